"""Extracts the text of one file: claims it, has it read in a child process, and stores how that ended, once.

The row decides, not the queue's message: only the attempt that holds its lease may end it (knowledge/models/file.py).
"""

import logging
import shutil
import tempfile
from pathlib import Path

from django.core.files.storage import default_storage

from chat.events import files as file_events
from chat.infrastructure.fault_points import reach
from chat.protocol.file_errors import FILE_ERRORS
from chat.runs.task_queue import enqueue_file
from ingest import drain
from ingest.child import Draining, LostLease, read_in_child
from ingest.reader.outcome import Outcome, limits_code
from knowledge import blobs
from knowledge.models import Extraction, File, FileKind

logger = logging.getLogger(__name__)


def extract(file_id: str) -> None:
    """Return when the file has ended, could not be claimed, or is left to another process because this one shuts down."""
    with drain.terminated_afterwards():
        if drain.has_begun():
            enqueue_file(file_id)
        else:
            _extract(file_id)


def _extract(file_id: str) -> None:
    file = File.objects.claim(file_id)
    if file is None:
        logger.debug("file %s: not claimed", file_id)
        return
    reach("after_file_claim")
    with tempfile.TemporaryDirectory(prefix="turnwire-ingest-") as name:
        folder = Path(name)
        try:
            outcome = _read(file, folder)
        except LostLease:
            logger.warning("file %s: deleted, or given to another worker", file.pk)
            return
        except Draining:
            if file.release():
                logger.info("file %s: returned to the queue", file.pk)
                enqueue_file(file_id)
            return
        reach("before_file_end")
        if _end(file, outcome, folder):
            reach("after_file_end")
            file_events.announce_end(file)


def _read(file: File, folder: Path) -> Outcome:
    """Raises LostLease, Draining."""
    try:
        _copy_content(file, folder / "content")
    except FileNotFoundError:
        return Outcome(error="file_missing")
    except OSError:
        logger.exception("file %s: the storage fails", file.pk)
        return Outcome(error="file_unreadable")
    try:
        outcome = read_in_child(file, folder)
    except TimeoutError:
        logger.warning("file %s: took too long", file.pk)
        return Outcome(error=limits_code(file.content_type))
    if outcome.error and outcome.error not in FILE_ERRORS:
        return Outcome(error="file_unreadable")
    return outcome


def _copy_content(file: File, target: Path) -> None:
    with default_storage.open(str(file.content.name)) as content, target.open("wb") as copy:
        shutil.copyfileobj(content, copy, 1024 * 1024)


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
    )
    stored: list[str] = []
    is_stored = False
    try:
        if outcome.has_picture:
            found = _store_picture(file, folder, found, stored)
        reach("after_picture_stored")
        is_stored = file.end_ready(found)
    finally:
        if not is_stored:
            for path in stored:
                blobs.discard(path)
    blobs.purge_on_commit()
    return is_stored


def _store_picture(file: File, folder: Path, found: Extraction, stored: list[str]) -> Extraction:
    """Store the picture without metadata, which replaces the upload, and its thumbnail. stored: gets their paths."""
    path = f"{blobs.upload_path(file.pk)}-{file.attempt}"
    stored.append(_store(folder / "picture", path))
    reach("before_thumbnail_stored")
    stored.append(_store(folder / "thumbnail", f"{path}-thumbnail"))
    size = (folder / "picture").stat().st_size
    return found._replace(content=stored[0], size_bytes=size, thumbnail=stored[1])


def _store(source: Path, path: str) -> str:
    with source.open("rb") as content:
        return blobs.store(content, path)
