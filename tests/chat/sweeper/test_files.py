"""The sweeper finishes what dead workers left of files, and compares the storage with the table."""

import os
import time
from datetime import timedelta
from typing import Any

import kombu
import pytest
from django.conf import settings as django_settings
from django.core.files.base import ContentFile
from django.db.models.functions import Now
from django.utils import timezone

from chat.events import files as file_events
from chat.infrastructure.redis_client import sync_redis
from chat.protocol.tasks import INGEST_QUEUE
from chat.runs.task_queue import queue_length
from chat.sweeper import files as swept_files
from chat.sweeper.runs import sweep
from knowledge.files import blobs
from knowledge.models import DeletedBlob, Extraction, File, FileKind
from knowledge.models.file import MAX_FAILURES
from tests import factories

pytestmark = pytest.mark.django_db(transaction=True)

PAST = timedelta(minutes=1)
READY = Extraction(FileKind.TEXT, "text/plain", "Two tides a day.", 5)


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Any) -> Any:
    settings.MEDIA_ROOT = tmp_path
    sync_redis().flushdb()
    return tmp_path


@pytest.fixture
def file() -> File:
    owner = factories.create_user("alice")
    content = ContentFile(b"Two tides a day.", name="any")
    return File.objects.create(owner=owner, name="tides.txt", content=content, size_bytes=16)


class Listener:
    """What the sockets of a user are told."""

    def __init__(self, file: File) -> None:
        self._pubsub: Any = sync_redis().pubsub(ignore_subscribe_messages=True)
        self._pubsub.subscribe(file_events.channel_name(file.owner_id))
        while not self._pubsub.subscribed:
            self._pubsub.get_message(timeout=1)

    def count(self) -> int:
        found = 0
        while self._pubsub.get_message(timeout=0.5):
            found += 1
        return found


@pytest.fixture
def listener(file: File) -> Any:
    listener = Listener(file)
    listener.count()
    yield listener
    listener._pubsub.close()


def claimed(file: File) -> File:
    found = File.objects.claim(file.pk)
    assert found is not None
    return found


def abandon(file: File) -> File:
    """Claim it, and stop extending its lease."""
    held = claimed(file)
    File.objects.filter(pk=file.pk).update(lease_until=timezone.now() - PAST)
    return held


def test_a_claim_is_exclusive_and_fences_what_comes_later(file: File) -> None:
    dead = abandon(file)
    assert File.objects.claim(file.pk) is None
    assert swept_files.take_over() == 1
    second = claimed(file)
    assert (second.attempt, second.failures) == (2, 1)
    assert not dead.extend_lease()
    assert not dead.end_failed("document_corrupt")
    assert not dead.end_ready(READY)
    assert second.end_ready(READY)
    assert not second.end_failed("document_corrupt")
    assert File.objects.claim(file.pk) is None


def test_a_file_whose_workers_die_fails_once_and_is_announced_once(file: File, listener: Listener) -> None:
    for _ in range(MAX_FAILURES):
        abandon(file)
        assert swept_files.take_over() == 1
    file.refresh_from_db()
    assert (file.status, file.error_code) == ("failed", "file_unreadable")
    assert swept_files.take_over() == swept_files.announce_ended() == 0
    assert listener.count() == 1


def test_an_end_that_nobody_announced_is_announced_once(file: File, listener: Listener) -> None:
    held = claimed(file)
    assert held.end_ready(READY)
    assert swept_files.announce_ended() == 0  # its worker is about to
    File.objects.filter(pk=file.pk).update(ended_at=timezone.now() - PAST)
    assert swept_files.announce_ended() == 1
    # As after a crash between the publication and its record.
    File.objects.filter(pk=file.pk).update(announced_at=None)
    assert swept_files.announce_ended() == 1
    assert swept_files.announce_ended() == 0
    assert listener.count() == 1


def test_a_lost_message_is_sent_again_while_the_queue_is_empty(file: File) -> None:
    with kombu.Connection(django_settings.CELERY_BROKER_URL) as connection:
        connection.SimpleQueue(INGEST_QUEUE).clear()
    assert swept_files.enqueue_lost() == 0  # its message may be on its way
    File.objects.filter(pk=file.pk).update(queued_at=timezone.now() - PAST)
    assert swept_files.enqueue_lost() == 1
    assert queue_length(INGEST_QUEUE) == 1
    assert swept_files.enqueue_lost() == 0


def lose_message(file: File) -> None:
    File.objects.filter(pk=file.pk).update(queued_at=timezone.now() - PAST)


def end_unannounced(file: File) -> None:
    assert claimed(file).end_ready(READY)
    File.objects.filter(pk=file.pk).update(ended_at=timezone.now() - PAST)


@pytest.mark.parametrize("go_wrong", [abandon, lose_message, end_unannounced])
def test_a_sweep_finds_a_file_when_nothing_else_is_to_be_repaired(file: File, go_wrong: Any) -> None:
    with kombu.Connection(django_settings.CELERY_BROKER_URL) as connection:
        connection.SimpleQueue(INGEST_QUEUE).clear()
    assert sweep(trust_locks=True).files == 0
    go_wrong(file)
    assert sweep(trust_locks=True).files == 1


def test_a_sweep_finds_stale_chunks_when_nothing_else_is_to_be_repaired(file: File) -> None:
    File.objects.filter(pk=file.pk).update(
        status="ready", ended_at=Now(), announced_at=Now(), has_stale_chunks=True
    )
    sweep(trust_locks=True)
    assert not File.objects.get(pk=file.pk).has_stale_chunks


def age(path: Any, seconds: float) -> None:
    moment = time.time() - seconds
    os.utime(path, (moment, moment))


def test_a_blob_without_a_row_goes_after_an_hour_and_others_stay(file: File, media: Any) -> None:
    folder = media / "files"
    for name in ("broken-off", "just-stored"):
        (folder / name).write_bytes(b"x")
    age(folder / "broken-off", 3700)
    age(folder / str(file.pk), 3700)
    assert swept_files.compare_storage() == 1
    assert {path.name for path in folder.iterdir()} == {"just-stored", str(file.pk)}


def test_a_row_without_its_blob_is_reported(file: File, media: Any, caplog: Any) -> None:
    (media / "files" / str(file.pk)).unlink()
    swept_files.compare_storage()
    assert f"1 files have lost their content, among them ['files/{file.pk}']" in caplog.text


def test_one_sweep_deletes_the_contents_of_many_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs, "BATCH", 2)
    DeletedBlob.objects.bulk_create(DeletedBlob(path=f"files/gone-{number}") for number in range(5))
    assert swept_files.BlobKeeper().purge(time.monotonic()) == 5
    assert not DeletedBlob.objects.exists()


def test_a_replaced_content_leaves_no_blob(file: File, media: Any) -> None:
    path = blobs.store(ContentFile(b"clean"), f"files/{file.pk}-1")
    held = claimed(file)
    assert held.end_ready(Extraction(FileKind.IMAGE, "image/png", "", 0, 8, 8, path, 5))
    assert swept_files.BlobKeeper().purge(time.monotonic()) == 1
    assert [entry.name for entry in (media / "files").iterdir()] == [f"{file.pk}-1"]
    file.refresh_from_db()
    assert (file.content.name, file.size_bytes) == (path, 5)
    assert not DeletedBlob.objects.exists()


def test_thumbnails_are_compared_in_both_directions(file: File, media: Any, caplog: Any) -> None:
    kept, lost, broken_off = (f"files/{name}-1-thumbnail" for name in (file.pk, "lost", "broken-off"))
    other = File.objects.create(owner=file.owner, name="x.png", kind="image", thumbnail=lost)
    File.objects.filter(pk=file.pk).update(kind="image", thumbnail=kept)
    for path in (kept, broken_off):
        age(media / blobs.store(ContentFile(b"small"), path), 3700)
    assert swept_files.compare_storage() == 1
    assert {path.name for path in (media / "files").iterdir()} == {str(file.pk), f"{file.pk}-1-thumbnail"}
    assert f"among them ['{lost}']" in caplog.text
    other.delete()
    assert blobs.purge_deleted() == 1


def test_a_storage_that_fails_is_asked_again(file: File, media: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    file.delete()
    with monkeypatch.context() as failing:
        failing.setattr(blobs.default_storage, "delete", fail)
        assert blobs.purge_deleted() == 0
    assert blobs.purge_deleted() == 1
    assert list((media / "files").iterdir()) == []


def test_a_storage_that_cannot_be_listed_ends_no_sweep(file: File, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs.default_storage, "listdir", fail)
    assert swept_files.BlobKeeper().purge(time.monotonic()) == 0


def fail(_path: str) -> None:
    raise OSError("the storage is away")


def test_a_storage_of_another_database_keeps_its_contents(file: File, media: Any, caplog: Any) -> None:
    folder = media / "files"
    for number in range(20):
        (folder / f"of-others-{number}").write_bytes(b"x")
        age(folder / f"of-others-{number}", 3700)
    assert swept_files.compare_storage() == 0
    assert "the storage has 20 contents without a row, and 1 with one: none is deleted" in caplog.text
    # The other database has as many files, whose contents are elsewhere.
    (folder / str(file.pk)).unlink()
    File.objects.bulk_create(
        File(owner=file.owner, name="elsewhere", content=f"files/elsewhere-{number}") for number in range(40)
    )
    assert swept_files.compare_storage() == 0
    assert len([*folder.iterdir()]) == 20
