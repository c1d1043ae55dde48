"""Runs the reader of one file in a child process: a fresh interpreter without secrets, limited in time and memory.

The child gets a folder with `content`, and writes `outcome.json` there, with `text`, or `picture` and `thumbnail`. A
crash, a hang or a kill of the child is an outcome as well.
"""

import errno
import logging
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Final

import msgspec
from django.db import OperationalError

from ingest import drain, ocr
from ingest.reader.reading_outcome import (
    MAX_PAGE_PICTURE_BYTES,
    MAX_PICTURE_BYTES,
    MAX_TEXT_BYTES,
    MAX_THUMBNAIL_BYTES,
    Outcome,
    crash_code,
    limits_code,
    page_picture_name,
)
from knowledge.files.reader_process import end_of_log, start_reader
from knowledge.models import File
from knowledge.models.file import BEAT_S

logger = logging.getLogger(__name__)

# From the start of the child to its end; ingest/reader/process_limits.py limits its processor time.
WALL_CLOCK_S: Final = 75.0
# The same if scanned pages are recognised. Recognition ends by itself after ten minutes (ingest/reader/scans.py).
OCR_WALL_CLOCK_S: Final = 690.0
# The longest delay until the shutdown of this process is noticed.
TICK_S: Final = 0.5
# The signals that end a process which exceeds its processor time or the memory of the machine.
_LIMIT_SIGNALS: Final = {signal.SIGXCPU, signal.SIGKILL}
# With less, it is not the file that its reader failed at.
LEAST_FREE_BYTES: Final = 64 * 1024
# The most bytes of each file that the child writes.
_MAX_BYTES: Final = {
    "outcome.json": 64 * 1024,
    "text": MAX_TEXT_BYTES,
    "picture": MAX_PICTURE_BYTES,
    "thumbnail": MAX_THUMBNAIL_BYTES,
}
_decode: Final = msgspec.json.Decoder(Outcome).decode


class LostLease(Exception):
    """The file was deleted, or belongs to another attempt; the result is dropped."""


class Draining(Exception):
    """This process is about to end; another process will read the file."""


def read_in_child(file: File, folder: Path) -> Outcome:
    """Read `folder`/content as a file of this type, and extend the lease meanwhile.
    Raises TimeoutError, LostLease, Draining, and OSError if the disk of temporary files is full.
    """
    limit_s = OCR_WALL_CLOCK_S if ocr.tell_reader(folder) else WALL_CLOCK_S
    child = start_reader(file.content_type, folder)
    try:
        status = _wait(child, file, limit_s)
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
    if status == -signal.SIGTERM and drain.has_begun(TICK_S):  # sent before the child ignored it
        raise Draining
    if status == 0:
        outcome = _outcome(file, folder)
        if outcome.error:
            logger.info("file %s: %s %s", file.pk, outcome.error, end_of_log(folder))
    else:
        logger.warning("file %s: its reader ended with %s: %s", file.pk, status, end_of_log(folder))
        killed = status < 0 and signal.Signals(-status) in _LIMIT_SIGNALS
        outcome = Outcome(error=limits_code(file.content_type) if killed else crash_code(file.content_type))
    if outcome.error and shutil.disk_usage(folder).free < LEAST_FREE_BYTES:  # what it wrote is still there
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))
    return outcome


def _wait(child: "subprocess.Popen[bytes]", file: File, limit_s: float) -> int:
    beat_at = time.monotonic() + BEAT_S
    limit = time.monotonic() + limit_s
    while True:
        try:
            return child.wait(TICK_S)
        except subprocess.TimeoutExpired:
            now = time.monotonic()
        if drain.has_begun():
            raise Draining
        if now >= limit:
            raise TimeoutError
        if now >= beat_at:
            beat_at = now + BEAT_S
            try:
                if not file.extend_lease():
                    raise LostLease
            except OperationalError as error:  # its end is fenced by the attempt
                logger.warning("file %s: no heartbeat: %s", file.pk, error)


def _outcome(file: File, folder: Path) -> Outcome:
    """Check and decode the outcome that the child wrote, which is not trusted: the child has read hostile bytes."""
    limits = _MAX_BYTES | {path.name: MAX_PAGE_PICTURE_BYTES for path in folder.glob(page_picture_name("*"))}
    for name, most in limits.items():
        path = folder / name
        if path.is_symlink() or (path.exists() and path.stat().st_size > most):
            return Outcome(error=limits_code(file.content_type))
    try:
        return _decode((folder / "outcome.json").read_bytes())
    except (OSError, msgspec.DecodeError) as error:
        logger.warning("file %s: its reader left no outcome: %s", file.pk, error)
        return Outcome(error=crash_code(file.content_type))
