"""Repairs files: those of dead workers, with a lost queue message, or with an unannounced end; and deletes blobs.

Idempotent, and safe beside live workers and other sweepers.
"""

import logging
import time
from datetime import timedelta
from itertools import takewhile
from threading import Thread
from typing import Final

import psycopg
from django.db import DatabaseError
from django.utils import timezone

from chat.events import files as file_events
from chat.infrastructure.background import with_connection
from chat.protocol.tasks import COMPUTE_VECTORS, EXTRACT_FILE, INGEST_QUEUE
from chat.runs.task_queue import enqueue_file, queue_length, send_message
from chat.sweeper.base_deletion import purge_base
from chat.sweeper.periodic import attempt_repair
from knowledge.files import blobs
from knowledge.models import Chunk, File, KnowledgeBase
from knowledge.search import indexing

logger = logging.getLogger(__name__)

# Interval of comparing the storage with the rows. A blob without a row that is older than UNREFERENCED_FOR belongs to
# an upload that was broken off.
COMPARE_EVERY_S: Final = 3600.0
UNREFERENCED_FOR: Final = timedelta(hours=1)
# Time per sweep for contents of deleted rows: a knowledge base may have held thousands.
PURGE_S: Final = 5.0
_BATCH: Final = 200
# Files per sweep, each in a transaction.
_STALE_FILES: Final = 5
# A message is a free slot, not one file, and is spent if all that wait leave their slots to others (decision 0094).
_LOST_FILES: Final = 20


def take_over() -> int:
    """Requeue or fail the files of dead workers; return how many."""
    return sum(attempt_repair(f"file {dead.pk}", _take_over, dead) for dead in File.objects.abandoned())


def announce_ended() -> int:
    """Publish ends that a crash kept from being published, until one fails, as without Redis; return how many."""
    announced = takewhile(file_events.announce_end, File.objects.unannounced()[:_BATCH])
    return sum(1 for _ in announced)


def enqueue_lost() -> int:
    """Send messages of unclaimed files again, some at a time; return how many. Raises one of task_queue.UNREACHABLE.

    Only if the queue is empty: otherwise the workers are busy, and no message has been lost.
    """
    waiting = [str(pk) for pk in File.objects.unclaimed().values_list("pk", flat=True)[:_LOST_FILES]]
    if not waiting or queue_length(INGEST_QUEUE):
        return 0
    for pk in waiting:
        send_message(EXTRACT_FILE, INGEST_QUEUE, file_id=pk)
    return len(waiting)


def delete_stale_chunks() -> int:
    """Delete some chunks, left by dead processes, that searches no longer find or never did; return how many."""
    files = list(File.objects.with_stale_chunks().values_list("pk", flat=True)[:_STALE_FILES])
    return sum(attempt_repair(f"old chunks of file {pk}", Chunk.objects.delete_stale, pk) for pk in files)


def enqueue_vectors() -> int:
    """Enqueue the computation of vectors that no worker computes; return the number of messages sent.

    Raises one of task_queue.UNREACHABLE.
    """
    if not indexing.vectors_wait() or queue_length(INGEST_QUEUE):
        return 0
    send_message(COMPUTE_VECTORS, INGEST_QUEUE)
    return 1


class BlobKeeper:
    """Deletes contents of deleted knowledge bases, blobs of deleted files, and once an hour blobs without a row."""

    def __init__(self) -> None:
        self._next_at = 0.0
        self._thread: Thread | None = None

    def purge_in_background(self, now_s: float) -> None:
        """Purge in a thread, unless it still runs: the repair of runs does not wait for a slow storage."""
        if self._thread and self._thread.is_alive():
            return
        self._thread = Thread(target=self._purge_in_thread, args=(now_s,), name="blobs", daemon=True)
        self._thread.start()

    def _purge_in_thread(self, now_s: float) -> None:
        try:
            purged = with_connection(self.purge, now_s)
        except (psycopg.Error, DatabaseError) as error:
            logger.warning("Postgres is unreachable, contents of files wait: %s", error)
        else:
            if purged:
                logger.info("deleted: %s documents and contents of files", purged)

    def purge(self, now_s: float) -> int:
        """Delete contents and blobs, and compare the storage when due; return how many. now_s: monotonic clock."""
        purged = purge_deleted_bases() + attempt_repair("a deleted blob", purge_contents)
        if now_s >= self._next_at:
            self._next_at = now_s + COMPARE_EVERY_S
            try:
                purged += compare_storage()
            except OSError:  # all other repairs go on without the storage
                logger.exception("the storage cannot be compared with the table")
        return purged


def purge_contents() -> int:
    """Delete blobs of deleted rows until there are none, the storage fails, or PURGE_S is over; return how many."""
    limit = time.monotonic() + PURGE_S
    purged = 0
    while time.monotonic() < limit and (batch := blobs.purge_deleted()):
        purged += batch
    return purged


def compare_storage() -> int:
    """Delete blobs that never got a row, and log rows whose blob is gone; return how many were deleted.

    If most blobs have none, nothing is deleted: DATABASE_URL may name another database than the storage's.
    """
    found = blobs.compare_with_rows(timezone.now() - UNREFERENCED_FOR)
    if found.missing:
        logger.error(
            "%s files have lost their content, among them %s", len(found.missing), found.missing[:10]
        )
    if found.is_of_others:
        message = "the storage has %s contents without a row, and %s with one: none is deleted. Is the database that of the storage?"
        logger.error(message, len(found.unreferenced), found.referred)
        return 0
    return sum(map(blobs.discard, found.unreferenced))


def _take_over(dead: File) -> bool:
    if not dead.has_failures_left:
        if not dead.end_failed("file_unreadable"):
            return False
        logger.error("file %s: failed after its worker died %s times", dead.pk, dead.failures + 1)
        return file_events.announce_end(dead)
    if not dead.take_from_dead_worker():
        return False
    logger.warning("file %s: taken from a dead worker", dead.pk)
    enqueue_file(str(dead.pk))
    return True


def purge_deleted_bases() -> int:
    """Purge deleted knowledge bases for at most PURGE_S, some documents at a time; return how many rows were deleted."""
    limit = time.monotonic() + PURGE_S
    purged = 0
    while time.monotonic() < limit and (base := KnowledgeBase.objects.deleted().first()):
        rows = attempt_repair(f"deleted knowledge base {base.pk}", purge_base, base)
        if not rows:
            break
        purged += rows
    return purged
