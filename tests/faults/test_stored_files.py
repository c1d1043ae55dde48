"""The storage and the rows of files agree, whatever is deleted, broken off or lost: with real processes."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.chat.sessions.portable import archives
from tests.e2e.client import Client
from tests.e2e.file_chat import FileChat, answers
from tests.faults.cluster import Cluster
from tests.ingest import documents as contents

pytestmark = [pytest.mark.fault, pytest.mark.timeout(400)]

IMPORT = "/api/sessions/import/"
ZIP = {"Content-Type": "application/zip"}
VISION = "from chat.models import ModelConfig; ModelConfig.objects.update(supports_vision=True)"
DELETE = "from django.contrib.auth.models import User; User.objects.get(username='dora').delete()"


@pytest.fixture(scope="module")
def own_cluster() -> Iterator[Cluster]:
    """Its storage holds nothing but what these tests store."""
    with Cluster.running() as cluster:
        cluster.stack.manage("create_user", "dora", "--password", "dora")
        cluster.stack.manage("shell", "-v", "0", "-c", VISION)
        yield cluster


@pytest.fixture
def cluster(own_cluster: Cluster) -> Cluster:
    own_cluster.restore()
    own_cluster.stack.start("ingest")
    return own_cluster


@pytest.fixture
async def dora(cluster: Cluster) -> AsyncIterator[Client]:
    async with Client.login(cluster.stack.base_url, "dora", "dora") as dora:
        yield dora
        for session in (await dora.call("GET", "sessions/"))["results"]:
            await dora.call("DELETE", f"sessions/{session['id']}/?permanent=1", status=204)
    print(cluster.logs())


@pytest.fixture
async def chat(cluster: Cluster, dora: Client) -> AsyncIterator[FileChat]:
    cluster.upstream.reply_by(answers)
    async with dora.socket() as socket:
        chat = FileChat(cluster.stack, dora, socket)
        await chat.open()
        yield chat


def folder(cluster: Cluster) -> Path:
    return cluster.stack.directory / "media" / "files"


def stored(cluster: Cluster) -> set[str]:
    return {path.name for path in folder(cluster).iterdir()}


def referred(cluster: Cluster) -> set[str]:
    rows = cluster.rows("SELECT content, thumbnail FROM knowledge_file")
    return {path.removeprefix("files/") for row in rows for path in row if path}


async def expect_agreement(cluster: Cluster, number: int | None = None) -> None:
    """The storage holds what the rows refer to; number: how many contents that are."""
    agree = (lambda: stored(cluster) == referred(cluster), "storage and rows to agree")
    await asyncio.to_thread(cluster.wait_until, *agree)  # or web would miss the socket's pongs
    assert number in (None, len(stored(cluster)))


async def take_out(client: Client, session: Any) -> bytes:
    path = f"/api/sessions/{session}/export/"
    return (await client.http.get(path, params={"as": "zip"}, timeout=120)).content


async def bring_in(client: Client, archive: bytes) -> Any:
    answer = await client.http.post(IMPORT, content=archive, headers=ZIP, timeout=120)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def all_read(client: Client, number: int) -> list[Any]:
    """The user's files, once none is being read."""
    while True:
        files = (await client.call("GET", "files/"))["results"]
        if all(one["status"] != "processing" for one in files):
            assert len(files) == number
            return list(files)
        await asyncio.sleep(0.1)


def hashes(archive: bytes) -> list[tuple[str, str, str]]:
    """(name, kind, digest) of the files of all messages, each as its entry has it."""
    entries = archives.unpacked(archive)
    messages = archives.manifest_of(archive)["messages"]
    files = [file for message in messages for file in message.get("files", [])]
    assert all(sha256(entries[file["entry"]]).hexdigest() == file["sha256"] for file in files)
    return [(file["name"], file["kind"], file["sha256"]) for file in files]


async def test_what_is_deleted_leaves_nothing_in_the_storage(cluster: Cluster, chat: FileChat) -> None:
    first = chat.session["id"]
    text = await chat.upload("tides.txt", contents.TIDES)
    picture = await chat.upload("moon.png", contents.picture("PNG"))
    table = await chat.upload("tides.csv", "high,low\n1,2\n")
    await chat.turn(text, picture)
    await chat.turn(table, text)
    project = await chat.project(("project.txt", "Spring tides"))
    await expect_agreement(cluster, 5)  # a thumbnail too
    archive = await take_out(chat.client, first)
    copy = await bring_in(chat.client, archive)
    await all_read(chat.client, 7)
    await expect_agreement(cluster, 9)
    again = await take_out(chat.client, copy)
    assert hashes(again) == hashes(archive)
    # What was extracted is the same as well: the whole archive is.
    assert again == archive

    await chat.client.call("DELETE", f"sessions/{first}/?permanent=1", status=204)
    await expect_agreement(cluster, 5)
    assert hashes(await take_out(chat.client, copy)) == hashes(archive)
    await chat.client.call("DELETE", f"sessions/{copy}/?permanent=1", status=204)
    await expect_agreement(cluster, 1)
    [kept] = (await chat.client.call("GET", "files/"))["results"]
    await chat.client.call("DELETE", f"projects/{project}/", status=204)
    await expect_agreement(cluster, 1)
    await chat.client.call("DELETE", f"files/{kept['id']}/", status=204)
    await expect_agreement(cluster, 0)


async def test_a_deleted_user_leaves_nothing_in_the_storage(cluster: Cluster, chat: FileChat) -> None:
    await chat.turn(
        await chat.upload("tides.txt", contents.TIDES), await chat.upload("moon.png", contents.picture("PNG"))
    )
    await bring_in(chat.client, await take_out(chat.client, chat.session["id"]))
    await chat.project(("project.txt", "Spring tides"))
    await all_read(chat.client, 5)
    await expect_agreement(cluster, 7)
    await asyncio.to_thread(cluster.stack.manage, "shell", "-v", "0", "-c", DELETE)
    try:
        await expect_agreement(cluster, 0)
    finally:
        await asyncio.to_thread(cluster.stack.manage, "create_user", "dora", "--password", "dora")
        login = {"username": "dora", "password": "dora"}
        answer = await chat.client.http.post("/api/auth/token/", json=login, headers={"Authorization": ""})
        chat.client.http.headers["Authorization"] = f"Token {answer.json()['token']}"


async def test_an_import_whose_process_is_killed_leaves_neither_rows_nor_contents(
    cluster: Cluster, dora: Client
) -> None:
    await expect_agreement(cluster, 0)
    before = cluster.rows("SELECT count(*) FROM chat_session")
    entries = {f"files/{number}": f"Tide {number}".encode() for number in range(1, 6)}
    files = [
        archives.described(name, content, name=f"{content.decode()}.txt") for name, content in entries.items()
    ]
    archive = archives.packed(entries, *files)
    cluster.kill("web")
    cluster.stack.start("web", "web", {"FAULT_POINTS": "after_contents_imported=kill"})
    cluster.stack.wait_until_ready()
    with pytest.raises(httpx2.TransportError):
        await dora.http.post(IMPORT, content=archive, headers=ZIP)
    cluster.kill("web")
    assert len(stored(cluster)) == 5
    assert cluster.rows("SELECT count(*) FROM chat_session") == before
    assert referred(cluster) == set()
    # As old as what the sweeper takes for broken off; it compares when it starts, and then once an hour.
    for path in folder(cluster).iterdir():
        os.utime(path, (time.time() - 7200,) * 2)
    cluster.kill("sweeper")
    cluster.restore()
    cluster.stack.start("ingest")
    await expect_agreement(cluster, 0)
    await bring_in(dora, archive)
    await expect_agreement(cluster, 5)


async def test_a_content_that_vanished_is_reported_and_breaks_nothing(
    cluster: Cluster, chat: FileChat
) -> None:
    text = await chat.upload("tides.txt", contents.TIDES)
    picture = await chat.upload("moon.png", contents.picture("PNG"))
    for path in folder(cluster).iterdir():
        path.unlink()
    for one in (text, picture):
        answer = await chat.client.http.get(f"/api/files/{one['id']}/content/")
        assert (answer.status_code, answer.json()["code"]) == (404, "file_not_found")
    # The text is in the row; the picture is left out.
    await chat.turn(text, picture)
    assert [message["text"] for message in await chat.branch()][-1] == "Answer 1"
    assert contents.TIDES in str(chat.request().messages)
    archive = await take_out(chat.client, chat.session["id"])
    assert set(archives.unpacked(archive)) == {"manifest.json"}
    files = archives.manifest_of(archive)["messages"][1]["files"]
    assert [(one["name"], one["is_missing"]) for one in files] == [("tides.txt", True), ("moon.png", True)]
    await bring_in(chat.client, archive)
    cluster.kill("sweeper")
    cluster.stack.start("sweeper")
    await asyncio.to_thread(
        cluster.wait_until,
        lambda: "3 files have lost their content" in cluster.stack.log("sweeper"),
        "the sweeper's report",
    )
    for one in (text, picture):
        await chat.client.call("DELETE", f"files/{one['id']}/", status=204)
    await expect_agreement(cluster, 0)


async def test_a_content_that_vanished_before_it_was_read_fails_its_file_alone(
    cluster: Cluster, chat: FileChat
) -> None:
    cluster.kill("ingest")
    answer = await chat.client.call("POST", "files/", status=201, files={"file": ("a.txt", b"Tides")})
    (folder(cluster) / answer["id"]).unlink()
    cluster.stack.start("ingest")
    [found] = await all_read(chat.client, 1)
    assert (found["status"], found["error"]["code"]) == ("failed", "file_missing")
    other = await chat.upload("b.txt", "Tides")
    assert other["status"] == "ready"
    for one in (found, other):
        await chat.client.call("DELETE", f"files/{one['id']}/", status=204)
