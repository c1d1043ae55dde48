"""A5: what one request may hold in memory. Imports as large as they may be, and exports of what no import may be.

With files as well, of which one chunk at a time is in memory.
"""

import asyncio
import contextlib
import json
import re
import zipfile
from collections.abc import AsyncIterator, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

from features.transfer.api import SessionFileParser
from tests import huge_session
from tests.e2e.client import Client
from tests.faults.cluster import Cluster

pytestmark = [pytest.mark.fault, pytest.mark.timeout(400)]
MIB = 1024 * 1024
# Above what the process holds anyway. A decoded value takes about 200 bytes, however short it is.
GROWTH_MIB = 300
EXPORT_GROWTH_MIB = 200
# Of hundreds of MiB of files.
FILES_GROWTH_MIB = 64
FILE_BYTES = 25 * MIB
SPACES = b" " * MIB
# In a session of alice's, one question with 50 files; their contents are holes on the disk.
FIFTY_FILES = f"""
from django.conf import settings
from django.contrib.auth.models import User
from chat.models import ChatMessage, MessageFile, Session
from knowledge.models import File
alice = User.objects.get(username="alice")
session = Session.objects.start(alice, title="Fifty files")
question = ChatMessage.objects.create(session=session, parent=session.leaf, parent_role="root", role="user", text="?")
folder = settings.MEDIA_ROOT / "files"
folder.mkdir(parents=True, exist_ok=True)
for number in range(50):
    file = File(owner=alice, name=f"{{number}}.txt", size_bytes={FILE_BYTES}, status="ready")
    file.content.name = f"files/{{file.pk}}"
    file.save()
    MessageFile.objects.create(message=question, file=file, position=number, number=number + 1)
    with (folder / str(file.pk)).open("wb") as content:
        content.truncate({FILE_BYTES})
print(session.pk)
"""
AT = "2026-01-01T00:00:00Z"


@pytest.fixture(scope="module")
def small_cluster() -> Iterator[Cluster]:
    with Cluster.running() as cluster:
        yield cluster


@pytest.fixture
def cluster(small_cluster: Cluster) -> Cluster:
    """With a web process of its own, which has held nothing yet."""
    small_cluster.kill("web")
    small_cluster.restore()
    return small_cluster


def peak_mib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found
    return int(found[1]) // 1024


def message(number: int, **members: Any) -> dict[str, Any]:
    role = "user" if number % 2 else "assistant"
    return {
        "id": number,
        "role": role,
        "sent_at": AT,
        "parent": number - 1,
        "latest_child": number + 1,
        **members,
    }


def file_of(messages: list[dict[str, Any]]) -> bytes:
    """messages: a branch, from the first question on."""
    del messages[-1]["latest_child"]
    root = {"id": 0, "role": "root", "sent_at": AT, "latest_child": 1}
    content = {"format": "turnwire.session", "version": 2, "messages": [root, *messages]}
    return json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()


def branch_with(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """With the calls in answers of at most a thousand."""
    messages: list[dict[str, Any]] = []
    for start in range(0, len(calls), 1000):
        number = len(messages) + 1
        run = {"model": "m", "created_at": AT}
        messages += [
            message(number, text="?"),
            message(number + 1, text="!", run=run, tool_calls=calls[start : start + 1000]),
        ]
    return messages


def call(number: int, **members: Any) -> dict[str, Any]:
    return {"tool_call_id": f"c{number}", "name": "t", "turn_number": number % 1000, **members}


def nested(depth: int) -> Any:
    return {"a": nested(depth - 1)} if depth else 0


SHAPES = {
    "many messages": lambda: [message(n, text=f"{n} " + "ab " * 1030) for n in range(1, 5_000)],
    "many calls": lambda: branch_with([call(n, response="found " * 255) for n in range(20_000)]),
    "deep JSON": lambda: branch_with([call(n, arguments=nested(80)) for n in range(10_000)]),
    "long texts": lambda: [message(n, text="x" * 1_990_000) for n in range(1, 17)],
    "texts beyond Latin": lambda: [message(n, text="🌊" * 500_000) for n in range(1, 17)],
    "many values": lambda: branch_with([call(n, arguments={"a": [0] * 9_800}) for n in range(100)]),
    "many documents": lambda: branch_with(
        [
            call(
                n, documents=[{"number": m + 1, "document_id": "d", "snippet": "s" * 30} for m in range(200)]
            )
            for n in range(1_200)
        ]
    ),
}


def archive_of(path: Path, contents: int, method: int) -> None:
    """So many files of 25 MiB, and beside them the manifest of a chat as large as it may be."""
    digest = sha256()
    for _ in range(25):
        digest.update(SPACES)
    files = [
        {"name": f"{n}.txt", "entry": f"files/{n}", "sha256": digest.hexdigest(), "size": FILE_BYTES}
        for n in range(1, contents + 1)
    ]
    messages = SHAPES["many calls"]()
    messages[0]["files"] = files
    manifest = json.loads(file_of(messages)) | {"version": 3}
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for file in files:
            with archive.open(str(file["entry"]), "w") as entry:
                for _ in range(25):
                    entry.write(SPACES)


async def send(client: Client, body: bytes) -> int:
    answer = await client.http.post(
        "/api/sessions/import/", content=body, headers={"Content-Type": "application/json"}, timeout=300
    )
    assert answer.status_code in (201, 503), answer.text
    assert answer.status_code == 201 or answer.headers["Retry-After"]
    return int(answer.status_code)


@pytest.mark.parametrize("shape", SHAPES)
async def test_an_import_holds_a_few_times_its_file(cluster: Cluster, shape: str) -> None:
    body = file_of(SHAPES[shape]())
    assert len(body) <= SessionFileParser.max_bytes
    pid = cluster.stack.processes["web"].pid
    async with Client.login(cluster.stack.base_url, "alice", "alice") as client:
        await client.new_session()
        before = peak_mib(pid)
        assert await send(client, body) == 201
    print(f"{shape}: {len(body) / MIB:.1f} MiB, peak {before} -> {peak_mib(pid)} MiB")
    assert peak_mib(pid) - before < GROWTH_MIB


async def test_many_imports_at_once_hold_what_two_do(cluster: Cluster) -> None:
    body = file_of(SHAPES["many calls"]())
    pid = cluster.stack.processes["web"].pid
    async with contextlib.AsyncExitStack() as stack:
        clients = [
            await stack.enter_async_context(Client.login(cluster.stack.base_url, name, name))
            for name in ("alice", "bob", "carol")
        ]
        before = peak_mib(pid)
        statuses = await asyncio.gather(*(send(client, body) for client in clients * 3))
    print(f"at once: {statuses}, peak {before} -> {peak_mib(pid)} MiB")
    assert 201 in statuses
    # The bodies themselves are received side by side, and limited together (decision 0088).
    assert peak_mib(pid) - before < 2 * GROWTH_MIB


@pytest.mark.parametrize("query", [{"as": "json"}, {"as": "markdown", "whole": "1"}])
async def test_an_export_of_a_huge_session_holds_a_part_of_it(
    cluster: Cluster, query: dict[str, str]
) -> None:
    """A hundred thousand calls in four answers that follow each other: from before there were limits."""
    pid = cluster.stack.processes["web"].pid
    async with Client.login(cluster.stack.base_url, "alice", "alice") as client:
        session = await client.new_session()
        with psycopg.connect(cluster.database_url) as connection:
            huge_session.fill(
                connection.execute, session["id"], messages=500, calls=25_000, answers=[2, 4, 6, 8]
            )
        before = peak_mib(pid)
        path, length = f"/api/sessions/{session['id']}/export/", 0
        async with client.http.stream("GET", path, params=query, timeout=300) as answer:
            assert answer.status_code == 200
            async for chunk in answer.aiter_bytes():
                length += len(chunk)
    print(f"export {query}: {length / MIB:.1f} MiB, peak {before} -> {peak_mib(pid)} MiB")
    assert length > 1 * MIB
    assert peak_mib(pid) - before < EXPORT_GROWTH_MIB


async def test_an_export_of_fifty_files_holds_a_chunk_of_them(cluster: Cluster) -> None:
    session = cluster.stack.manage("shell", "-v", "0", "-c", FIFTY_FILES).strip()
    pid = cluster.stack.processes["web"].pid
    async with Client.login(cluster.stack.base_url, "alice", "alice") as client:
        await client.call("GET", f"sessions/{session}/")
        before, length = peak_mib(pid), 0
        path, query = f"/api/sessions/{session}/export/", {"as": "zip"}
        async with client.http.stream("GET", path, params=query, timeout=300) as answer:
            assert answer.status_code == 200
            async for chunk in answer.aiter_bytes():
                length += len(chunk)
        await client.call("DELETE", f"sessions/{session}/?permanent=1", status=204)
    print(f"export of files: {length / MIB:.0f} MiB, peak {before} -> {peak_mib(pid)} MiB")
    assert length > 50 * FILE_BYTES
    assert peak_mib(pid) - before < FILES_GROWTH_MIB


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED], ids=["stored", "deflated"])
async def test_an_import_of_files_holds_its_manifest_and_a_chunk(
    cluster: Cluster, tmp_path: Path, method: int
) -> None:
    path = tmp_path / "chat.zip"
    archive_of(path, 9, method)
    pid = cluster.stack.processes["web"].pid

    async def pieces() -> AsyncIterator[bytes]:
        with path.open("rb") as archive:
            while piece := archive.read(MIB):
                yield piece

    async with Client.login(cluster.stack.base_url, "bob", "bob") as client:
        await client.new_session()
        before = peak_mib(pid)
        headers = {"Content-Type": "application/zip", "Content-Length": str(path.stat().st_size)}
        answer = await client.http.post(
            "/api/sessions/import/", content=pieces(), headers=headers, timeout=300
        )
        assert answer.status_code == 201, answer.text
        await client.call("DELETE", f"sessions/{answer.json()['id']}/?permanent=1", status=204)
    print(f"import of files: {path.stat().st_size / MIB:.0f} MiB, peak {before} -> {peak_mib(pid)} MiB")
    assert peak_mib(pid) - before < GROWTH_MIB + FILES_GROWTH_MIB
