"""Documents of knowledge bases: what is given, who may do what, versions, and that they leave nowhere else."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils import timezone

from chat.events import session_list
from chat.infrastructure.redis_client import sync_redis
from chat.models import StoredBytes
from chat.sweeper.files import take_over
from features.knowledge_bases import documents, members
from ingest import extraction, fetching
from ingest.reader.reading_outcome import Outcome
from knowledge.fetching.page import FetchedPage
from knowledge.fetching.target import UrlRefused
from knowledge.files import blobs
from knowledge.models import (
    Chunk,
    DeletedBlob,
    Document,
    DocumentVersion,
    File,
    KnowledgeBase,
    Project,
    ServedVersion,
)
from knowledge.models.sql.chunk_search import search_chunks
from tests import factories
from tests.features.knowledge_bases.knowledge_bases import ROLES, Team, refusal, send
from tests.next_file import read_file

pytestmark = pytest.mark.django_db(transaction=True)

LOW, HIGH = "Low water stands at two metres.", "High water stands at five metres."
PAGE = "https://sea.example.org/tides"


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr(extraction, "read_in_child", read_here)
    sync_redis().flushdb()
    return tmp_path


@pytest.fixture
def team() -> Team:
    return Team()


def read_here(_file: Any, folder: Path) -> Outcome:
    """As the child process does, of plain text."""
    content = (folder / "content").read_bytes()
    if content.startswith(b"%PDF"):
        return Outcome(error="document_corrupt")
    (folder / "text").write_bytes(content)
    return Outcome(kind="text", has_text=True, token_count=len(content) // 4)


def add(team: Team, role: str = "editor", **body: Any) -> dict[str, Any]:
    response = send(
        team.clients[role], "post", f"{team.path}documents/", body or {"title": "Low", "text": LOW}
    )
    assert response.status_code == 201, response.json()
    return dict(response.json())


def replace(team: Team, pk: str, **body: Any) -> dict[str, Any]:
    response = send(team.clients["editor"], "put", f"{team.path}documents/{pk}/", body)
    assert response.status_code == 200, response.json()
    return dict(response.json())


def ready(team: Team, **body: Any) -> str:
    pk = str(add(team, **body)["id"])
    read_file(pk)
    assert shown(team, pk)["status"] == "ready"
    return pk


def shown(team: Team, pk: str) -> dict[str, Any]:
    return dict(team.clients["reader"].get(f"{team.path}documents/{pk}/").json())


def found(team: Team, query: str = "water", role: str = "reader") -> list[str]:
    return [one["text"] for one in team.clients[role].get(f"{team.path}search/", {"q": query}).json()]


def stored(media: Path) -> int:
    blobs.purge_deleted()
    return sum(1 for path in media.rglob("*") if path.is_file())


def pages(monkeypatch: pytest.MonkeyPatch, *answers: Any) -> list[str]:
    """The URL answers with these, one after the other; returns what was asked."""
    asked: list[str] = []

    def fetch(url: str) -> FetchedPage:
        asked.append(url)
        answer = answers[len(asked) - 1]
        if isinstance(answer, Exception):
            raise answer
        return FetchedPage(url, "text/plain", answer.encode())

    monkeypatch.setattr(fetching, "fetch_text", fetch)
    return asked


class TestAdding:
    def test_a_text_is_found_once_it_was_read(self, team: Team) -> None:
        made = add(team)
        assert (made["title"], made["status"], made["url"], made["error"]) == (
            "Low",
            "processing",
            None,
            None,
        )
        assert found(team) == []
        read_file(made["id"])
        [hit] = team.clients["reader"].get(f"{team.path}search/", {"q": "water"}).json()
        assert (hit["document_id"], hit["title"], hit["text"], hit["start"]) == (made["id"], "Low", LOW, 0)
        assert hit["lexical_rank"] == 1
        assert hit["score"] > 0
        page = team.clients["reader"].get(f"{team.path}documents/").json()
        assert page["results"] == [shown(team, made["id"])]
        base = team.clients["reader"].get(team.path).json()
        assert base["documents"] == {"processing": 0, "ready": 1, "failed": 0}
        assert base["indexing"] == {"chunks": 1, "waiting": 0}

    def test_a_form_has_a_file_and_a_title(self, team: Team) -> None:
        form = {"file": SimpleUploadedFile("low.md", LOW.encode()), "title": "Low"}
        made = team.clients["editor"].post(f"{team.path}documents/", form).json()
        assert (made["title"], made["content_type"], made["size"]) == ("Low", "text/markdown", len(LOW))

    def test_ones_own_upload_is_copied(self, team: Team) -> None:
        own = File.objects.create(
            owner=team.users["editor"],
            name="low.txt",
            content=ContentFile(LOW.encode(), name="any"),
            size_bytes=31,
        )
        pk = ready(team, file=str(own.pk))
        own.delete()
        blobs.purge_deleted()
        content = team.clients["reader"].get(f"{team.path}documents/{pk}/content/")
        assert b"".join(content.streaming_content).decode() == LOW
        assert team.clients["reader"].get(f"{team.path}documents/{pk}/text/").content.decode() == LOW

    def test_the_upload_of_another_is_not_found(self, team: Team) -> None:
        theirs = File.objects.create(owner=team.users["owner"], name="low.txt", size_bytes=1)
        response = send(team.clients["editor"], "post", f"{team.path}documents/", {"file": str(theirs.pk)})
        assert (*refusal(response), response.json()["field"]) == (404, "file_not_found", "file")

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({}, "text"),
            ({"text": LOW}, "title"),
            ({"title": "Low"}, "text"),
            ({"title": "Low", "text": LOW, "url": PAGE}, "url"),
            ({"title": " ", "text": LOW}, "title"),
            ({"title": "Low", "text": " "}, "text"),
            ({"title": "x" * 256, "text": LOW}, "title"),
            ({"url": PAGE, "owner": "bob"}, "owner"),
        ],
    )
    def test_what_does_not_fit_is_refused(self, team: Team, media: Path, body: Any, field: str) -> None:
        response = send(team.clients["editor"], "post", f"{team.path}documents/", body)
        assert (response.status_code, response.json()["field"]) == (400, field)
        assert (Document.objects.count(), stored(media)) == (0, 0)


class TestUrls:
    def test_a_page_is_read_afterwards(self, team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        asked = pages(monkeypatch, LOW)
        made = add(team, url=PAGE)
        assert (made["title"], made["url"], made["status"], asked) == (PAGE, PAGE, "processing", [])
        read_file(made["id"])
        assert (found(team), asked) == ([LOW], [PAGE])

    def test_what_does_not_work_is_the_error_of_the_document(
        self, team: Team, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pages(monkeypatch, UrlRefused("url_address_blocked"))
        pk = add(team, url="http://169.254.169.254/")["id"]
        read_file(pk)
        failed = shown(team, pk)
        assert (failed["status"], failed["error"]["code"]) == ("failed", "url_address_blocked")

    def test_an_unchanged_page_costs_no_reading_and_a_changed_one_replaces_it(
        self, team: Team, media: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pages(monkeypatch, LOW, LOW, HIGH)
        pk = ready(team, url=PAGE)
        before = Chunk.objects.get().pk
        assert replace(team, pk, url=PAGE)["status"] == "processing"
        assert found(team) == [LOW]
        read_file(pk)
        assert (shown(team, pk)["status"], Chunk.objects.get().pk) == ("ready", before)
        replace(team, pk, url=PAGE)
        read_file(pk)
        assert (found(team), stored(media)) == ([HIGH], 1)

    def test_the_last_version_is_found_while_the_page_cannot_be_read(
        self, team: Team, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pages(monkeypatch, LOW, UrlRefused("timeout"), LOW)
        pk = ready(team, url=PAGE)
        replace(team, pk, url=PAGE)
        read_file(pk)
        assert (shown(team, pk)["error"]["code"], found(team)) == ("timeout", [LOW])
        replace(team, pk, url=PAGE)
        read_file(pk)
        assert (shown(team, pk)["status"], found(team)) == ("ready", [LOW])


class TestVersions:
    def test_the_same_content_costs_nothing_but_may_get_another_title(self, team: Team, media: Path) -> None:
        pk = ready(team)
        attempt = Document.objects.get().attempt
        same = replace(team, pk, title="Ebb", text=LOW)
        assert (same["status"], same["title"], stored(media)) == ("ready", "Ebb", 1)
        assert (Document.objects.get().attempt, found(team)) == (attempt, [LOW])

    def test_the_same_content_of_another_type_is_read_again(self, team: Team) -> None:
        pk = ready(team, title="low.md", text=LOW)
        path = f"{team.path}documents/{pk}/"
        form = {"file": SimpleUploadedFile("low.csv", LOW.encode())}
        replaced = team.clients["editor"].put(path, form, format="multipart").json()
        assert (replaced["status"], replaced["content_type"]) == ("processing", "text/markdown")
        read_file(pk)
        assert (shown(team, pk)["status"], shown(team, pk)["content_type"]) == ("ready", "text/csv")

    def test_a_version_without_a_title_keeps_that_of_the_document(
        self, team: Team, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pages(monkeypatch, LOW)
        pk = ready(team)
        path = f"{team.path}documents/{pk}/"
        own = File.objects.create(
            owner=team.users["editor"],
            name="own.txt",
            content=ContentFile(HIGH.encode(), name="any"),
            size_bytes=32,
        )
        for body in ({"text": HIGH}, {"url": PAGE}, {"file": str(own.pk)}, {"text": LOW}):
            assert replace(team, pk, **body)["title"] == "Low", body
            read_file(pk)
            assert shown(team, pk)["title"] == "Low", body
        form = {"file": SimpleUploadedFile("high.md", HIGH.encode())}
        assert team.clients["editor"].put(path, form, format="multipart").json()["title"] == "Low"

    def test_the_version_before_is_found_until_the_new_one_is_whole(self, team: Team, media: Path) -> None:
        pk = ready(team)
        assert replace(team, pk, title="High", text=HIGH)["status"] == "processing"
        assert found(team) == [LOW]
        read_file(pk)
        assert (found(team), stored(media), Chunk.objects.count()) == ([HIGH], 1, 1)

    def test_a_version_that_fails_leaves_the_one_before(self, team: Team) -> None:
        pk = ready(team)
        form = {"file": SimpleUploadedFile("high.pdf", b"%PDF-1.7 broken")}
        path = f"{team.path}documents/{pk}/"
        assert team.clients["editor"].put(path, form, format="multipart").status_code == 200
        read_file(pk)
        assert (shown(team, pk)["error"]["code"], found(team)) == ("document_corrupt", [LOW])
        replace(team, pk, title="Low", text=LOW)
        read_file(pk)
        assert shown(team, pk)["status"] == "ready"

    def test_a_worker_that_reads_the_version_before_stores_nothing(self, team: Team) -> None:
        pk = str(add(team)["id"])
        held = File.objects.claim(pk)
        assert held is not None
        replace(team, pk, title="High", text=HIGH)
        assert not held.end_failed("file_unreadable")
        read_file(pk)
        assert found(team) == [HIGH]


class TestServing:
    """What members see of a document while another version is read, and after that failed: the one whose text is found."""

    def seen(self, team: Team, pk: str) -> tuple[str, str | None, str, str, str]:
        """Title and URL, also of what a search finds; the text, the content, and the status."""
        one = shown(team, pk)
        [hit] = search_chunks(File.objects.filter(pk=pk), "water", None, 9)
        assert (hit.name, hit.url or None) == (one["title"], one["url"])
        path = f"{team.path}documents/{pk}/"
        listed = team.clients["reader"].get(f"{team.path}documents/").json()["results"]
        assert [row["title"] for row in listed if row["id"] == pk] == [one["title"]]
        content = team.clients["reader"].get(f"{path}content/")
        assert content.headers["Content-Length"] == str(one["size"])
        text = team.clients["reader"].get(f"{path}text/").content.decode()
        return one["title"], one["url"], text, b"".join(content.streaming_content).decode(), one["status"]

    def test_a_version_is_seen_with_its_own_title_and_url_when_it_is_whole(
        self, team: Team, media: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pages(monkeypatch, LOW, UrlRefused("timeout"), HIGH)
        pk = ready(team, url=PAGE, title="Low")
        before = ("Low", PAGE, LOW, LOW)
        other = f"{PAGE}/high"
        assert replace(team, pk, url=other, title="High")["title"] == "Low"
        assert self.seen(team, pk) == (*before, "processing")
        read_file(pk)
        assert self.seen(team, pk) == (*before, "failed")
        assert shown(team, pk)["error"]["code"] == "timeout"
        assert stored(media) == 1
        replace(team, pk, url=other, title="High")
        assert self.seen(team, pk) == (*before, "processing")
        read_file(pk)
        assert self.seen(team, pk) == ("High", other, HIGH, HIGH, "ready")
        assert (stored(media), ServedVersion.objects.count()) == (1, 0)

    def test_a_page_that_is_read_again_keeps_its_content_meanwhile(
        self, team: Team, media: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pages(monkeypatch, LOW, LOW, HIGH)
        pk = ready(team, url=PAGE, title="Tide")
        for text in (LOW, HIGH):
            replace(team, pk, url=PAGE)
            assert self.seen(team, pk) == ("Tide", PAGE, LOW, LOW, "processing")
            read_file(pk)
            assert self.seen(team, pk) == ("Tide", PAGE, text, text, "ready")
            assert stored(media) == 1

    def test_the_content_that_is_served_stays_while_workers_die_with_the_next_one(
        self, team: Team, media: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pages(monkeypatch, LOW, HIGH, HIGH)
        pk = ready(team, url=PAGE, title="Tide")
        replace(team, pk, url=PAGE)
        held = File.objects.claim(pk)
        assert held is not None
        assert not fetching.fetch(held, media / "fetched")
        File.objects.filter(pk=pk).update(lease_until=timezone.now() - timedelta(hours=1))
        assert take_over() == 1
        (media / "fetched").unlink()
        assert (self.seen(team, pk), stored(media)) == (("Tide", PAGE, LOW, LOW, "processing"), 2)
        assert blobs.compare_with_rows(timezone.now() + timedelta(hours=1))[:2] == ([], [])
        read_file(pk)
        assert (self.seen(team, pk), stored(media)) == (("Tide", PAGE, HIGH, HIGH, "ready"), 1)

    def test_a_version_that_replaces_one_which_is_read_does_not_show_that_one(
        self, team: Team, media: Path
    ) -> None:
        pk = ready(team)
        replace(team, pk, title="High", text=HIGH)
        replace(team, pk, title="Spring", text=f"{HIGH} More.")
        assert self.seen(team, pk) == ("Low", None, LOW, LOW, "processing")
        read_file(pk)
        assert self.seen(team, pk)[:3] == ("Spring", None, f"{HIGH} More.")
        assert stored(media) == 1

    def test_a_title_of_its_own_is_seen_at_once_and_stays(self, team: Team) -> None:
        pk = ready(team)
        replace(team, pk, title="High", text=HIGH)
        send(team.clients["editor"], "patch", f"{team.path}documents/{pk}/", {"title": "Tide"})
        assert self.seen(team, pk)[0] == "Tide"
        read_file(pk)
        assert self.seen(team, pk)[0] == "Tide"

    def test_another_title_for_a_version_that_is_read_is_seen_with_it(self, team: Team) -> None:
        pk = ready(team)
        for title in ("High", "Spring"):
            replace(team, pk, title=title, text=HIGH)
            assert self.seen(team, pk)[0] == "Low"
        read_file(pk)
        assert self.seen(team, pk)[0] == "Spring"

    def test_a_document_that_never_was_whole_shows_what_was_given_last(
        self, team: Team, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        pages(monkeypatch, UrlRefused("timeout"))
        pk = add(team, url=PAGE)["id"]
        read_file(pk)
        replaced = replace(team, pk, url=f"{PAGE}/low", title="Low")
        assert (replaced["title"], replaced["url"]) == ("Low", f"{PAGE}/low")

    def test_both_contents_count_until_the_new_one_is_whole(self, team: Team) -> None:
        owner = team.users["owner"].pk
        pk = ready(team)
        once = StoredBytes.objects.sum_of(owner)
        replace(team, pk, title="High", text=HIGH)
        assert StoredBytes.objects.sum_of(owner) == once + len(HIGH)
        assert StoredBytes.objects.sum_of_base(team.base.pk) == once + len(HIGH)
        read_file(pk)
        assert StoredBytes.objects.sum_of(owner) == 2 * len(HIGH)

    def test_a_document_is_deleted_with_both_of_its_versions(self, team: Team, media: Path) -> None:
        pk = ready(team)
        replace(team, pk, title="High", text=HIGH)
        assert stored(media) == 2
        assert team.clients["editor"].delete(f"{team.path}documents/{pk}/").status_code == 204
        assert (stored(media), ServedVersion.objects.count()) == (0, 0)


def test_a_deleted_document_is_found_by_nobody_and_leaves_nothing(team: Team, media: Path) -> None:
    pk = ready(team)
    assert team.clients["editor"].delete(f"{team.path}documents/{pk}/").status_code == 204
    assert found(team) == []
    assert (Document.objects.count(), Chunk.objects.count(), stored(media)) == (0, 0, 0)
    assert not DeletedBlob.objects.exists()


# What each role gets, in the order of ROLES: owner, editor, reader, restricted, stranger.
NO, GONE = (403, "not_allowed"), (404, "knowledge_base_not_found")
TEXT = {"title": "High", "text": HIGH}
RIGHTS: list[tuple[str, str, Any, list[Any]]] = [
    ("get", "", None, [200, 200, 200, GONE, GONE]),
    ("post", "", TEXT, [201, 201, NO, GONE, GONE]),
    ("get", "{pk}/", None, [200, 200, 200, GONE, GONE]),
    ("put", "{pk}/", TEXT, [200, 200, NO, GONE, GONE]),
    ("patch", "{pk}/", {"title": "High"}, [200, 200, NO, GONE, GONE]),
    ("delete", "{pk}/", None, [204, 204, NO, GONE, GONE]),
    ("get", "{pk}/text/", None, [200, 200, 200, GONE, GONE]),
    ("get", "{pk}/content/", None, [200, 200, 200, GONE, GONE]),
]


@pytest.mark.parametrize(("method", "path", "body", "answers"), RIGHTS)
def test_what_a_role_may_do(team: Team, method: str, path: str, body: Any, answers: list[Any]) -> None:
    for role, answer in zip(ROLES, answers, strict=True):
        pk = ready(team)
        response = send(team.clients[role], method, f"{team.path}documents/{path.format(pk=pk)}", body)
        if isinstance(answer, int):
            assert response.status_code == answer, role
        else:
            assert refusal(response) == answer, role
            assert Document.objects.get(pk=pk).name == "Low"


class TestElsewhere:
    def test_a_document_is_no_file_of_its_owner(self, team: Team) -> None:
        pk = ready(team)
        owner = team.clients["owner"]
        for path in ("", "content/", "text/", "thumbnail/"):
            assert refusal(owner.get(f"/api/files/{pk}/{path}")) == (404, "file_not_found")
        assert refusal(owner.delete(f"/api/files/{pk}/")) == (404, "file_not_found")
        assert owner.get("/api/files/").json()["results"] == []
        project = Project.objects.create(owner=team.users["owner"], name="Sea")
        add_to = send(owner, "post", f"/api/projects/{project.pk}/files/", {"file": pk})
        assert refusal(add_to) == (404, "file_not_found")
        factories.create_model("quick", is_default=True)
        session = send(owner, "post", "/api/sessions/", {}).json()["id"]
        assert refusal(factories.send_turn(owner, session, files=[pk])) == (404, "file_not_found")
        assert refusal(send(owner, "post", f"{team.path}documents/", {"file": pk})) == (404, "file_not_found")

    def test_readers_are_told_that_it_ended_and_nothing_else(self, team: Team) -> None:
        pk = str(add(team)["id"])
        pubsub: Any = sync_redis().pubsub(ignore_subscribe_messages=True)
        # Not "*": other files' workers share this server's channels, and the broker tells of their heartbeats.
        pubsub.psubscribe("turnwire:*")
        pubsub.get_message(timeout=1)
        read_file(pk)
        told = []
        while message := pubsub.get_message(timeout=0.5):
            told.append((message["channel"].decode(), json.loads(message["data"])))
        pubsub.close()
        frame = {"type": "knowledge_base_changed", "knowledge_base": str(team.base.pk)}
        readers = [team.users[role].pk for role in ("owner", "editor", "reader")]
        frames = [one for one in told if one[1].get("type") != "metrics"]
        assert sorted(frames, key=str) == sorted(
            ((session_list.channel_name(user), frame) for user in readers), key=str
        )


class TestQuotas:
    def test_documents_of_a_base(self, team: Team, media: Path, settings: Any) -> None:
        settings.MAX_DOCUMENTS_PER_BASE = 1
        pk = ready(team)
        response = send(team.clients["editor"], "post", f"{team.path}documents/", TEXT)
        assert (*refusal(response), response.json()["max"]) == (409, "too_many_documents", 1)
        assert stored(media) == 1
        assert replace(team, pk, **TEXT)["id"] == pk

    def test_bytes_count_for_the_owner_of_the_base(self, team: Team, media: Path, settings: Any) -> None:
        settings.MAX_STORED_BYTES_PER_USER = len(LOW) * 3
        ready(team)
        response = send(team.clients["editor"], "post", f"{team.path}documents/", TEXT)
        assert refusal(response) == (409, "storage_full")
        assert stored(media) == 1

    def test_waiting_documents_are_capped_and_count_for_the_owner_of_the_base(
        self, team: Team, media: Path, settings: Any
    ) -> None:
        settings.MAX_WAITING_FILES_PER_USER = 1
        pk = str(add(team)["id"])
        response = send(team.clients["editor"], "post", f"{team.path}documents/", TEXT)
        assert (*refusal(response), response.json()["max"]) == (429, "too_many_waiting_files", 1)
        assert stored(media) == 1
        # One that waits is not another one with its next version; one that has been read is.
        replace(team, pk, text="Neap tides are small.")
        read_file(pk)
        other = ready(team, **TEXT)
        replace(team, pk, text="Spring tides are large.")
        body = {"text": "A tide turns."}
        refused = send(team.clients["editor"], "put", f"{team.path}documents/{other}/", body)
        assert refusal(refused) == (429, "too_many_waiting_files")

    def test_chunks_count_for_the_owner_of_the_base(self, team: Team, settings: Any) -> None:
        settings.MAX_CHUNKS_PER_USER = 1
        waiting = str(add(team)["id"])
        ready(team, **TEXT)
        read_file(waiting)
        assert shown(team, waiting)["error"]["code"] == "too_many_chunks"
        assert refusal(send(team.clients["editor"], "post", f"{team.path}documents/", TEXT)) == (
            409,
            "too_many_chunks",
        )


def test_a_document_counts_for_who_owns_the_base_when_it_is_stored(team: Team) -> None:
    old, heir = team.users["owner"], team.users["editor"]
    team.base.members.filter(user=heir).update(role="owner")
    received_for = KnowledgeBase.objects.select_related("owner").get()
    members.remove_member(team.base, old, team.base.members.get(user=old).pk)
    documents.add_document(received_for, heir, DocumentVersion("Low", url=PAGE))
    assert Document.objects.get().owner == heir


def test_nothing_is_left_in_the_storage_if_the_row_cannot_be_stored(team: Team, media: Path) -> None:
    team.base.members.filter(user=team.users["editor"]).update(role="reader")
    assert refusal(send(team.clients["editor"], "post", f"{team.path}documents/", TEXT)) == NO
    assert stored(media) == 0
    assert not default_storage.exists("files") or default_storage.listdir("files")[1] == []
