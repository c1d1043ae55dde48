"""Extracts the text of one file: claims it, has a child process read it, and stores the result once.

The rows decide, not the message of the queue. A message only offers a slot, which goes to the owner with the fewest
files in work (decision 0094). Only the attempt that holds the lease of a file may end it (knowledge/models/file.py).
"""

import logging
import tempfile
import time
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import OperationalError, close_old_connections
from django.db.models import Q
from django.db.models.functions import Now
from msgspec.structs import replace
from redis.exceptions import RedisError

from chat.events import files as file_events
from chat.infrastructure.fault_points import reach
from chat.metrics import presence
from chat.models import StoredBytes
from chat.protocol.errors import FILE_ERRORS, ApiError
from chat.protocol.tasks import INGEST_QUEUE
from chat.runs import quotas
from chat.runs.task_queue import enqueue_file
from ingest import drain
from ingest.child import Draining, LostLease, read_in_child
from ingest.fetching import Unchanged, fetch
from ingest.reader.reading_outcome import Outcome, PagePicture, limits_code, page_picture_name
from knowledge.files import blobs
from knowledge.models import Extraction, File, FileKind, FileStatus
from knowledge.search.indexing import delete_stale_chunks, store_chunks

logger = logging.getLogger(__name__)

# While the storage fails, a file is tried again after RETRY_AFTER times the number of attempts, at most LONGEST_DELAY:
# for most of a day.
RETRY_AFTER: Final = timedelta(seconds=2)
LONGEST_DELAY: Final = timedelta(minutes=5)
MAX_ATTEMPTS: Final = 300
DATABASE_RETRY_S: Final = 1.0


def extract(file_id: str) -> bool:
    """Read the next file, which may be another than this one; return whether a file has ended.

    False: no file waits, the lease was lost, the storage fails, or this process shuts down and leaves it to another.
    """
    with drain.deferring_sigterm():
        if not drain.has_begun():
            return _extract()
        enqueue_file(file_id)
        return False


def _live_slots() -> int:
    """Return how many files the live ingest processes read at once; if Redis does not say, how many this one does."""
    try:
        pools = presence.pools(presence.live_processes())
    except RedisError:
        pools = []
    live = sum(pool.slots for pool in pools if pool.queue == INGEST_QUEUE)
    return max(live, settings.INGEST_CONCURRENCY)


def _extract() -> bool:
    file = File.objects.claim_next(_live_slots() if settings.OCR else settings.INGEST_CONCURRENCY)
    if file is None:
        return False
    reach("after_file_claim")
    try:
        with tempfile.TemporaryDirectory(prefix="turnwire-ingest-") as name:
            has_ended = _read_and_end(file, Path(name))
    except LostLease:
        logger.warning("file %s: deleted, or given to another worker", file.pk)
        return False
    except Draining:
        if file.release():
            logger.info("file %s: returned to the queue", file.pk)
            enqueue_file(str(file.pk))
        return False
    except OSError as error:
        has_ended = _retry_later(file, error)
    except OperationalError as error:
        _release_when_possible(file, error)
        return False
    if has_ended:
        reach("after_file_end")
        file_events.announce_end(file)
        delete_stale_chunks(file.pk)
    return has_ended


def _read_and_end(file: File, folder: Path) -> bool:
    """Read a file and store its end. False if another attempt holds the row.
    Raises LostLease, Draining, and OSError if the storage fails.
    """
    try:
        outcome = _read(file, folder)
    except Unchanged:
        return file.end_unchanged()
    reach("before_file_end")
    return _end(file, outcome, folder)


def _read(file: File, folder: Path) -> Outcome:
    """Get the content and read it. Raises LostLease, Draining, Unchanged, and OSError if the storage fails."""
    try:
        if file.url and not file.content:
            if refused := fetch(file, folder / "content"):
                return Outcome(error=refused)
        else:
            _copy_content(file, folder / "content")
    except FileNotFoundError:
        return Outcome(error="file_missing")
    try:
        outcome = read_in_child(file, folder)
    except TimeoutError:
        logger.warning("file %s: took too long", file.pk)
        return Outcome(error=limits_code(file.content_type))
    if outcome.error and outcome.error not in FILE_ERRORS:
        return Outcome(error="file_unreadable")
    return outcome


def _copy_content(file: File, target: Path) -> None:
    """Copy as many bytes as the row says, whatever the storage has."""
    with target.open("wb") as copy:
        copy.writelines(blobs.read(str(file.content.name), 0, file.size_bytes))


def _retry_later(file: File, error: OSError) -> bool:
    """Return the file to the queue, or fail it after MAX_ATTEMPTS. True: the file has ended."""
    if file.attempt >= MAX_ATTEMPTS:
        logger.error("file %s: failed, the storage does not work: %s", file.pk, error)
        return file.end_failed("file_unreadable")
    delay = min(file.attempt * RETRY_AFTER, LONGEST_DELAY)
    logger.warning("file %s: the storage fails, tried again after %s: %s", file.pk, delay, error)
    file.release(delay)
    return False


def _release_when_possible(file: File, error: OperationalError) -> None:
    """Return the file to the queue once Postgres accepts it: a lease that ends would count as the death of a worker."""
    logger.warning("file %s: read again when Postgres is back: %s", file.pk, error)
    while not drain.has_begun():
        time.sleep(DATABASE_RETRY_S)
        close_old_connections()
        try:
            if file.release():
                enqueue_file(str(file.pk))
        except OperationalError as again:
            logger.warning("file %s: not returned to the queue yet: %s", file.pk, again)
        else:
            return


def _end(file: File, outcome: Outcome, folder: Path) -> bool:
    """Store the end. False if another attempt holds the row."""
    if outcome.error:
        return file.end_failed(outcome.error)
    text = (folder / "text").read_bytes().decode() if outcome.has_text else ""
    found = Extraction(
        FileKind(outcome.kind),
        outcome.content_type or file.content_type,
        text,
        outcome.token_count,
        outcome.width_px,
        outcome.height_px,
        tokens_by_encoding=outcome.tokens_by_encoding,
        notes_length=outcome.notes_length,
    )
    stored: list[str] = []
    with blobs.discarded_on_failure(stored):
        if outcome.has_picture:
            found = _store_picture(file, folder, found, stored)
        pages = store_page_pictures(file, outcome.page_pictures, folder, stored)
        reach("after_picture_stored")
        reading = replace(outcome.reading, shown_pages=len(pages))
        is_stored = _end_ready(file, found._replace(reading=reading), pages)
    if not is_stored:
        blobs.discard_all(stored)
    blobs.purge_on_commit()
    return is_stored


def _store_picture(file: File, folder: Path, found: Extraction, stored: list[str]) -> Extraction:
    """Store the picture without metadata, which replaces the upload, and its thumbnail. `stored` gets their paths."""
    path = f"{blobs.upload_path(file.pk)}-{file.attempt}"
    stored.append(_store(folder / "picture", path))
    reach("before_thumbnail_stored")
    stored.append(_store(folder / "thumbnail", f"{path}-thumbnail"))
    size = (folder / "picture").stat().st_size
    return found._replace(content=stored[0], size_bytes=size, thumbnail=stored[1])


def _store(source: Path, path: str) -> str:
    with source.open("rb") as content:
        return blobs.store(content, path)


def _end_ready(file: File, found: Extraction, pages: Sequence[File] = ()) -> bool:
    """End a file as ready. `pages`: pictures of the pages without text.

    Chunks are stored for documents and files of projects, which searches find from then on. A file that joins a project
    later has none yet.
    """
    is_searched = Q(project__isnull=False) | Q(knowledge_base__isnull=False)
    has_chunks = File.objects.filter(is_searched, pk=file.pk).exists()
    if has_chunks and found.text and not quotas.has_room_for_chunks(file):
        return file.end_failed("too_many_chunks")
    if has_chunks:
        for is_stored in store_chunks(file, found.text, found.notes_length):
            if not is_stored:
                return False
            reach("after_chunk_batch")
            if drain.has_begun():
                raise Draining
        reach("after_chunks_stored")
    with quotas.room_for_text(file, found.text) as has_room:
        if not has_room:
            logger.warning("file %s: its text does not fit into the storage of its owner", file.pk)
            return file.end_failed("storage_full")
        is_ready = file.end_ready(found, has_chunks=has_chunks)
        if is_ready:
            replace_page_pictures(file, pages)
        return is_ready


_CONTENT_TYPE = "image/jpeg"


def store_page_pictures(
    document: File, pages: Sequence[PagePicture], folder: Path, stored: list[str]
) -> list[File]:
    """Store the contents and return their unsaved rows. `stored` gets their paths. Raises OSError.

    Nothing is stored for a document of a knowledge base, which models never get whole, or without room in the storage
    quota of the owner.
    """
    if not pages or document.knowledge_base_id:
        return []
    rows = [_row(document, picture, folder / page_picture_name(picture.page)) for picture in pages]
    try:
        quotas.check_storage(
            document.owner_id,
            StoredBytes.objects.sum_of(document.owner_id),
            sum(row.size_bytes for row in rows),
        )
    except ApiError:
        return []
    for row, picture in zip(rows, pages, strict=True):
        with (folder / page_picture_name(picture.page)).open("rb") as content:
            row.content.name = blobs.store(content, blobs.upload_path(row.pk))
        stored.append(str(row.content.name))
    return rows


def replace_page_pictures(document: File, pictures: Sequence[File]) -> None:
    """Replace the pictures of a document, in the transaction in which it ends. Pictures in messages stay."""
    File.objects.filter(page_of=document, messages__isnull=True).delete()
    File.objects.bulk_create(pictures)


def _row(document: File, picture: PagePicture, source: Path) -> File:
    return File(
        owner_id=document.owner_id,
        page_of=document,
        page=picture.page,
        name=f"{document.name[:200]}, page {picture.page}",
        content_type=_CONTENT_TYPE,
        kind=FileKind.IMAGE,
        status=FileStatus.READY,
        size_bytes=source.stat().st_size,
        width_px=picture.width_px,
        height_px=picture.height_px,
        ended_at=Now(),
        announced_at=Now(),
    )
