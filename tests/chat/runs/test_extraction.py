"""A file is read again: it goes back to the queue once, sockets are told, and what was extracted is replaced, not doubled."""

import json
from typing import Any

import pytest
from django.core.files.base import ContentFile

from chat.events import files as file_events
from chat.infrastructure.redis_client import sync_redis
from chat.protocol.tasks import INGEST_QUEUE
from chat.runs.new_files import extract_again
from chat.runs.task_queue import queue_length
from knowledge.models import Chunk, Extraction, File, FileKind, Project
from knowledge.search.hybrid_search import search_files
from knowledge.texts.reading import Reading
from tests import factories
from tests.indexed import index_held

pytestmark = pytest.mark.django_db(transaction=True)

OLD = Extraction(FileKind.TEXT, "text/plain", "Low water stands at two metres.", 7)
NEW = Extraction(FileKind.TEXT, "text/plain", "High water stands at five metres.", 8)


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path
    sync_redis().flushdb()


@pytest.fixture
def file() -> File:
    """In a project."""
    owner = factories.create_user("alice")
    project = Project.objects.create(owner=owner, name="Tides")
    content = ContentFile(b"Low water.", name="any")
    return File.objects.create(owner=owner, name="tides.txt", content=content, size_bytes=10, project=project)


def claimed(file: File) -> File:
    found = File.objects.claim(file.pk)
    assert found is not None
    return found


def ready(file: File, found: Extraction = OLD) -> File:
    held = claimed(file)
    assert held.end_ready(found)
    return held


def found_in_project(file: File, query: str) -> list[str]:
    assert file.project_id
    return [chunk.text for chunk in search_files(File.objects.filter(project=file.project_id), query, 9)]


def told(file: File, *events: Any) -> list[str]:
    """Call `events`; returns the states that sockets of the owner are told."""
    pubsub: Any = sync_redis().pubsub(ignore_subscribe_messages=True)
    pubsub.subscribe(file_events.channel_name(file.owner_id))
    while not pubsub.subscribed:
        pubsub.get_message(timeout=1)
    pubsub.get_message(timeout=1)
    for event in events:
        event()
    states = []
    while message := pubsub.get_message(timeout=0.5):
        states.append(json.loads(message["data"])["status"])
    pubsub.close()
    return states


@pytest.mark.parametrize("end", ["ready", "failed"])
def test_an_ended_file_returns_to_the_queue_exactly_once(file: File, end: str) -> None:
    held = claimed(file)
    assert held.end_ready(OLD) if end == "ready" else held.end_failed("file_unreadable")
    assert [extract_again(file.pk) for _ in range(3)] == [True, False, False]
    assert queue_length(INGEST_QUEUE) == 1
    file.refresh_from_db()
    assert (file.status, file.error_code, file.attempt, file.failures) == ("processing", "", 1, 0)
    assert (file.ended_at, file.announced_at, file.lease_until) == (None, None, None)


def test_a_file_that_is_read_or_has_no_content_stays_as_it_is(file: File) -> None:
    assert not extract_again(file.pk)
    claimed(file)
    assert not extract_again(file.pk)
    written = File.objects.create(owner=file.owner, name="seed.txt", text="Low.", status="ready")
    assert not extract_again(written.pk)
    written.refresh_from_db()
    assert (written.status, written.text) == ("ready", "Low.")
    assert not extract_again("5e551011-0000-4000-8000-000000000000")


def test_a_worker_of_the_time_before_can_no_longer_end_it(file: File) -> None:
    old = ready(file)
    assert extract_again(file.pk)
    assert not old.end_ready(OLD)
    new = claimed(file)
    assert (new.attempt, old.extend_lease(), old.end_failed("file_unreadable")) == (2, False, False)
    assert new.end_ready(NEW)


def test_text_tokens_and_chunks_are_replaced(file: File) -> None:
    ready(file)
    assert found_in_project(file, "low water") == [OLD.text]
    assert extract_again(file.pk)
    assert found_in_project(file, "low water") == [OLD.text]
    index_held(claimed(file), NEW)
    assert found_in_project(file, "low water") == [NEW.text]
    file.refresh_from_db()
    assert (file.status, file.text, file.token_count) == ("ready", NEW.text, 8)
    assert list(Chunk.objects.values_list("file", "position")) == [(file.pk, 0)]
    assert extract_again(file.pk)
    index_held(claimed(file), Extraction(FileKind.TEXT, "text/plain"))
    file.refresh_from_db()
    assert (file.text, file.token_count, found_in_project(file, "water")) == ("", 0, [])


def test_sockets_are_told_that_it_is_read_again_and_how_that_ends(file: File) -> None:
    held = ready(file)
    assert file_events.announce_end(held)
    again: list[File] = []
    states = told(
        file,
        lambda: extract_again(file.pk),
        lambda: file_events.announce_end(held),
        lambda: again.append(claimed(file)),
        lambda: again[0].end_failed("document_corrupt"),
        lambda: [file_events.announce_end(again[0]) for _ in range(2)],
    )
    assert states == ["processing", "failed"]


def test_what_the_reader_says_of_a_file_is_read_with_it_and_found_by_no_search(file: File) -> None:
    """Nor once it is indexed anew, as a file is that joins another project."""
    note = "[Pictures without text, perhaps scanned, of which no text follows: page 1]"
    text = f"{note}\n\n\n\f\nLow water stands at two metres."
    extraction = Extraction(
        FileKind.TEXT, "text/plain", text, 20, notes_length=len(note) + 2, reading=Reading(unread_pages=1)
    )
    index_held(claimed(file), extraction)
    assert found_in_project(file, "pictures scanned page") == []
    assert found_in_project(file, "low water") == ["Low water stands at two metres."]
    chunk = Chunk.objects.get()
    assert text[chunk.start :].startswith("Low water")
    File.objects.update(chunks_version=None)
    Chunk.objects.all().delete()
    assert found_in_project(file, "pictures scanned page") == []
    assert found_in_project(file, "low water") == ["Low water stands at two metres."]


def test_a_scan_that_nobody_recognised_says_so_and_has_no_passage(file: File, client: Any) -> None:
    note = "[Pictures without text, perhaps scanned, of which no text follows: pages 1-3]"
    index_held(
        claimed(file),
        Extraction(
            FileKind.TEXT,
            "application/pdf",
            note,
            20,
            notes_length=len(note),
            reading=Reading(unread_pages=3),
        ),
    )
    assert not Chunk.objects.exists()
    client.force_login(file.owner)
    assert client.get(f"/api/files/{file.pk}/").json()["unread_pages"] == 3
