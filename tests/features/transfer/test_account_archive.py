"""Users download everything of their account, and nothing of anybody else's."""

import io
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.test import Client
from knox.models import AuthToken
from msgspec import json

from chat.models import Agent, Preferences, Run, Session, ToolCall, ToolCallImage
from knowledge.files import blobs
from knowledge.models import File, KnowledgeBase, Project
from knowledge.models.document import Document, ServedVersion
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

PLACE = "/profile/export/"
OWN, CANARY = "tidemark", "canary"
# Of a name that no system unpacks anywhere else.
HOSTILE = "..\\../" + "ü" * 200 + ".txt"


def add_everything(user: User, mark: str) -> None:
    """One of each, with `mark` in every text and every content."""
    client = factories.api_client(user)
    agent = Agent.objects.create(owner=user, name=f"{mark} agent", prompt=f"{mark} prompt")
    project = Project.objects.create(owner=user, name=f"{mark} project", instructions=f"{mark} rules")
    Preferences.objects.change(user, instructions=f"{mark} instructions")
    base = KnowledgeBase.objects.start(user, name=f"{mark} base", summary=f"{mark} summary")
    for name, place in {
        "in a project": {"project": project},
        HOSTILE: {},
        "document": {"knowledge_base": base},
        "of a tool": {"is_tool_image": True},
    }.items():
        add_file(user, f"{mark} {name}", f"{mark} in {name[:12]}", **place)
    body = {"title": f"{mark} chat", "agent": str(agent.pk), "project": str(project.pk)}
    session = client.post("/api/sessions/", body, format="json").json()["id"]
    attached = add_file(user, f"{mark} attached", f"{mark} attached content")
    body = {"text": f"{mark} question", "files": [str(attached.pk)]}
    assert client.post(f"/api/sessions/{session}/turns/", body, format="json").status_code == 202


def add_file(user: User, name: str, content: str, **place: Any) -> File:
    return File.objects.create(
        owner=user, name=name[:255], status="ready", text=content, token_count=3, size_bytes=len(content),
        content=ContentFile(content.encode(), name="any"), **place,
    )  # fmt: skip


@pytest.fixture
def alice(db: None) -> User:
    factories.create_model("model", is_default=True)
    user: User = factories.create_user("alice", email="alice@example.org")
    add_everything(user, OWN)
    return user


@pytest.fixture
def mallory(alice: User) -> User:
    """Reads a base of alice's, and lets her read one."""
    user: User = factories.create_user(f"{CANARY} mallory", email=f"{CANARY}@example.org")
    add_everything(user, CANARY)
    for owner, member in ((alice, user), (user, alice)):
        KnowledgeBase.objects.get(owner=owner).members.create(user=member, role="reader")
    return user


def download(user: User) -> dict[str, bytes]:
    """The entries, by name."""
    browser = Client()
    browser.force_login(user)
    answer: Any = browser.get(PLACE)
    assert answer["Content-Type"] == "application/zip"
    assert answer["Content-Disposition"].startswith("attachment; filename=")
    with zipfile.ZipFile(io.BytesIO(b"".join(answer.streaming_content))) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def test_an_image_that_the_archive_of_its_chat_has_no_room_for_is_among_the_files(
    alice: User, settings: Any
) -> None:
    file = File.objects.get(owner=alice, is_tool_image=True)
    File.objects.filter(pk=file.pk).update(kind="image", width_px=1, height_px=1)
    run = Run.objects.get(turn__session__owner=alice)
    call = ToolCall.objects.create(
        run=run, message=run.message, turn_number=0, tool_call_id="c", name="chart", status="completed"
    )
    ToolCallImage.objects.create(tool_call=call, file=file, position=0)
    settings.MAX_IMPORT_BYTES = 1
    entries = download(alice)
    assert [content for name, content in entries.items() if name.startswith("files/") and file.name in name]


def contents(entries: dict[str, bytes]) -> Iterator[tuple[str, bytes]]:
    """Those of archives inside too."""
    for name, content in entries.items():
        yield name, content
        if name.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(content)) as inner:
                yield from ((f"{name}: {one}", inner.read(one)) for one in inner.namelist())


def listed(entries: dict[str, bytes], name: str) -> Any:
    return json.decode(entries[f"{name}.json"])


def test_the_archive_has_everything_of_the_account(alice: User) -> None:
    AuthToken.objects.create(alice)
    entries = download(alice)
    account = listed(entries, "account")
    assert (account["username"], account["email"]) == ("alice", "alice@example.org")
    assert account["limits"]
    assert len(account["api_tokens"]) == 1
    assert [one["prompt"] for one in listed(entries, "agents")] == [f"{OWN} prompt"]
    assert [one["instructions"] for one in listed(entries, "projects")] == [f"{OWN} rules"]
    [chat] = listed(entries, "chats")
    assert chat["title"] == f"{OWN} chat"
    inner = {name.partition(": ")[2]: content for name, content in contents(entries) if ": " in name}
    assert f"{OWN} question".encode() in inner["manifest.json"]
    assert inner["files/1"] == f"{OWN} attached content".encode()
    files = listed(entries, "files")
    assert [entries[one["entry"]] for one in files] == [
        f"{OWN} in in a project".encode(),
        f"{OWN} in {HOSTILE[:12]}".encode(),
        f"{OWN} in of a tool".encode(),
    ]
    [base] = listed(entries, "knowledge-bases")
    assert base["summary"] == f"{OWN} summary"
    assert [entries[one["entry"]] for one in base["documents"]] == [f"{OWN} in document".encode()]


def test_a_document_is_in_it_as_its_members_see_it(alice: User) -> None:
    document = Document.objects.get(knowledge_base__isnull=False)
    ServedVersion.objects.preserve(document)
    document.content.save("any", ContentFile(b"unread"), save=False)
    Document.objects.filter(pk=document.pk).update(
        name="new.txt", content=document.content.name, status="processing"
    )
    entries = download(alice)
    [[written]] = [base["documents"] for base in listed(entries, "knowledge-bases")]
    assert entries[written["entry"]] == f"{OWN} in document".encode()
    assert "new.txt" not in written["entry"]


def test_nothing_of_another_user_is_in_it(alice: User, mallory: User) -> None:
    for name, content in contents(download(alice)):
        assert CANARY.encode() not in content, name
        assert CANARY not in name
    hers = dict(contents(download(mallory)))
    assert not any(OWN.encode() in content for content in hers.values())
    assert sum(CANARY.encode() in content for content in hers.values()) > 8


def test_every_entry_has_a_name_that_every_system_unpacks_below_the_folder(alice: User) -> None:
    for name in download(alice):
        assert len(name) < 150
        assert ".." not in name.split("/")
        assert not set('\\:*?"<>|\n') & set(name)
        assert not name.startswith("/")
        assert name.rstrip(" .") == name
    assert any(name.endswith(".txt") for name in download(alice))


def test_its_chats_can_be_imported(alice: User) -> None:
    entries = download(alice)
    [chat] = listed(entries, "chats")
    client = factories.api_client(alice)
    answer = client.post("/api/sessions/import/", entries[chat["entry"]], content_type="application/zip")
    assert (answer.status_code, answer.json()["title"]) == (201, f"{OWN} chat")
    assert Session.objects.filter(owner=alice).count() == 2


def test_a_content_that_is_gone_is_marked_and_ends_nothing(alice: User) -> None:
    blobs.discard(str(File.objects.get(name=f"{OWN} in a project").content.name))
    entries = download(alice)
    gone, other, _ = listed(entries, "files")
    assert (gone["entry"], gone["is_missing"], other["is_missing"]) == (None, True, False)
    assert "knowledge-bases.json" in entries


def test_an_empty_account_has_an_archive(db: None) -> None:
    entries = download(factories.create_user("newcomer"))
    assert sorted(entries) == [
        f"{name}.json"
        for name in (
            "account",
            "agents",
            "chats",
            "files",
            "knowledge-bases",
            "preferences",
            "projects",
            "prompts",
        )
    ]


def test_it_needs_a_login_and_is_linked_from_the_profile_and_before_the_deletion(alice: User) -> None:
    assert Client().get(PLACE)["Location"] == f"/login/?next={PLACE}"
    browser = Client()
    browser.force_login(alice)
    assert all(PLACE in browser.get(page).text for page in ("/profile/", "/profile/deletion/"))
    assert browser.post(PLACE).status_code == 405


def test_chats_in_the_trash_are_exported_and_say_so(alice: User) -> None:
    session = Session.objects.get(owner=alice)
    assert factories.api_client(alice).delete(f"/api/sessions/{session.pk}/").status_code == 204
    entries = download(alice)
    [chat] = listed(entries, "chats")
    assert chat["id"] == str(session.pk)
    assert chat["deleted_at"] < chat["purge_at"]
    assert any(content == f"{OWN} attached content".encode() for _, content in contents(entries))
