"""A delivery says that a slot is free: it goes to a waiting file of the owner who has the fewest in work (decision 0094)."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.base import ContentFile
from django.utils import timezone

from chat.infrastructure.redis_client import sync_redis
from chat.metrics.presence import Announcement, Work
from chat.protocol.tasks import INGEST_QUEUE
from chat.runs.task_queue import queue_length
from chat.sweeper import files as swept_files
from ingest import extraction
from ingest.reader.reading_outcome import Outcome
from ingest.tasks import extract_file
from knowledge.models import ChunkVector, File, FileStatus, Project
from knowledge.search import embedders
from tests import factories
from tests.concurrency import run_concurrently
from tests.upstream import Upstream

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def media(settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MEDIA_ROOT = tmp_path
    monkeypatch.setattr(extraction, "read_in_child", read_here)
    sync_redis().flushdb()


@pytest.fixture
def alice() -> User:
    return factories.create_user("alice")


@pytest.fixture
def bob() -> User:
    return factories.create_user("bob")


def read_here(_file: Any, folder: Path) -> Outcome:
    """As the child process does, of plain text."""
    (folder / "text").write_bytes((folder / "content").read_bytes())
    return Outcome(kind="text", content_type="text/plain", has_text=True, token_count=5)


def upload(owner: User, count: int = 1, **fields: Any) -> list[File]:
    """Files that wait, each for longer than those uploaded later."""
    content = b"Two tides a day."
    return [
        File.objects.create(
            owner=owner,
            name="a.txt",
            content=ContentFile(content, name="any"),
            size_bytes=len(content),
            **fields,
        )
        for _ in range(count)
    ]


def claim() -> File | None:
    return File.objects.claim_next(settings.INGEST_CONCURRENCY)


def owner_of(claimed: File | None) -> str:
    assert claimed
    return claimed.owner.username


def ready() -> list[File]:
    return list(File.objects.filter(status=FileStatus.READY))


def test_a_small_file_of_another_user_is_next_although_twelve_of_the_first_user_wait(
    alice: User, bob: User
) -> None:
    in_work, *waiting = upload(alice, 13)
    [small] = upload(bob)
    assert File.objects.claim(in_work.pk)
    extraction.extract(str(waiting[0].pk))
    assert ready() == [small]


def test_where_pages_are_recognised_the_pdfs_of_one_user_leave_a_slot_to_others(
    alice: User, bob: User, settings: Any
) -> None:
    settings.OCR, settings.INGEST_CONCURRENCY = "eng", 3
    first, second, third = upload(alice, 3, content_type="application/pdf")
    assert [claim() for _ in range(3)] == [first, second, None]
    [short], [other] = upload(alice), upload(bob, content_type="application/pdf")
    assert {claim(), claim()} == {short, other}
    assert claim() is None
    File.objects.filter(pk__in=[first.pk, short.pk]).update(status=FileStatus.READY, lease_until=None)
    assert claim() == third


def test_the_slots_of_all_ingest_processes_count(
    alice: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.OCR, settings.INGEST_CONCURRENCY = "eng", 1
    with sync_redis().pipeline() as pipe:
        for _ in range(3):
            Announcement("ingest", lambda: Work((INGEST_QUEUE,), slots=1)).write(pipe)
        pipe.execute()
    upload(alice, 3, content_type="application/pdf")
    held = []
    monkeypatch.setattr(extraction, "_read_and_end", lambda file, _folder: held.append(file))
    for _ in range(3):
        extraction.extract("")
    assert len(held) == 2


def test_a_file_that_left_its_slot_to_others_is_woken_by_the_end_of_one(alice: User, settings: Any) -> None:
    settings.OCR, settings.INGEST_CONCURRENCY = "eng", 2
    long_ago = timezone.now() - timedelta(minutes=1)
    first, _ = upload(alice, 2, content_type="application/pdf", queued_at=long_ago)
    extract_file(file_id=str(first.pk))
    assert (len(ready()), queue_length(INGEST_QUEUE)) == (1, 1)


def test_users_with_as_many_files_in_work_take_turns(alice: User, bob: User) -> None:
    files = [*upload(alice, 4), *upload(bob, 2)]
    order = [owner_of(claim()) for _ in files]
    assert order == ["alice", "bob", "alice", "bob", "alice", "alice"]
    assert claim() is None


def test_the_file_that_has_waited_longest_comes_first(alice: User, bob: User) -> None:
    first, second = upload(alice, 2)
    [other] = upload(bob)
    later = upload(alice, 2)
    File.objects.filter(pk=other.pk).update(queued_at=timezone.now() - timedelta(hours=1))
    assert [claim() for _ in range(5)] == [other, first, second, *later]


def test_deliveries_at_once_leave_nobody_waiting_behind_two_of_another(alice: User, bob: User) -> None:
    for _ in range(10):
        upload(alice, 6)
        [other] = upload(bob)
        assert other in run_concurrently(claim, claim)
        File.objects.all().delete()


def test_deliveries_at_once_claim_each_file_once(alice: User, bob: User) -> None:
    files = [*upload(alice, 6), *upload(bob, 6)]
    claimed = run_concurrently(*[claim] * len(files), connected=False)
    assert {file.pk for file in claimed} == {file.pk for file in files}
    assert set(File.objects.values_list("attempt", flat=True)) == {1}


def test_a_file_of_a_dead_worker_is_claimed_by_no_delivery_before_the_failure_is_counted(
    alice: User, bob: User
) -> None:
    [lost], [other] = upload(alice), upload(bob)
    assert claim() == lost
    File.objects.filter(pk=lost.pk).update(lease_until=timezone.now() - timedelta(seconds=1))
    assert claim() == other
    assert claim() is None
    assert swept_files.take_over() == 1
    again = claim()
    assert again == lost
    assert again.failures == 1


def test_a_file_whose_storage_fails_waits_until_it_is_tried_again(alice: User) -> None:
    failing, other = upload(alice, 2)
    held = claim()
    assert held
    assert held.release(timedelta(minutes=1))
    assert claim() == other
    assert claim() is None
    File.objects.filter(pk=failing.pk).update(queued_at=timezone.now())
    assert claim() == failing


def test_vectors_of_a_document_do_not_wait_behind_the_messages_of_all_files(
    bob: User, embeddings_upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(embedders, "WAITS_S", (0.0, 0.0))
    [document] = upload(bob, project=Project.objects.create(owner=bob, name="Tides"))
    extract_file(file_id=str(document.pk))
    assert ChunkVector.objects.get(chunk__file=document).vector is not None
    assert queue_length(INGEST_QUEUE) == 0
