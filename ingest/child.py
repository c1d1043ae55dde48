"""Runs the reader of one file in a child process: a fresh interpreter without secrets, limited in time and memory.

The child gets a folder with `content`, and leaves `outcome.json` there, with `text`, or `picture` and `thumbnail`. Whatever it does
otherwise (crash, hang, be killed) is an outcome as well.
"""

import logging
import signal
import subprocess
import time
from pathlib import Path
from typing import Final

import msgspec

from ingest import drain, ocr
from ingest.reader.outcome import (
    MAX_PAGE_PICTURE_BYTES,
    MAX_PICTURE_BYTES,
    MAX_TEXT_BYTES,
    MAX_THUMBNAIL_BYTES,
    Outcome,
    crash_code,
    limits_code,
    page_picture_name,
)
from knowledge.models import File
from knowledge.models.file import BEAT_S
from knowledge.reader_process import end_of_log, start_reader

logger = logging.getLogger(__name__)

# From its start to its end; its processor time is limited in ingest/reader/limits.py.
WALL_CLOCK_S: Final = 75.0
# The same where scanned pages are recognised, which ends by itself after ten minutes (ingest/reader/scans.py).
OCR_WALL_CLOCK_S: Final = 690.0
# How soon the end of this process is noticed.
TICK_S: Final = 0.5
# How a process ends that has used up its processor time or all memory of the machine.
_LIMIT_SIGNALS: Final = {signal.SIGXCPU, signal.SIGKILL}
# Of what the child leaves.
_MAX_BYTES: Final = {
    "outcome.json": 64 * 1024,
    "text": MAX_TEXT_BYTES,
    "picture": MAX_PICTURE_BYTES,
    "thumbnail": MAX_THUMBNAIL_BYTES,
}
_decode: Final = msgspec.json.Decoder(Outcome).decode


class LostLease(Exception):
    """The file was deleted, or belongs to another attempt; what was read is dropped."""


class Draining(Exception):
    """This process is about to end; another one reads the file."""


def read_in_child(file: File, folder: Path) -> Outcome:
    """Read `folder`/content as a file of this name and type. Raises TimeoutError, LostLease, Draining.

    The lease is extended meanwhile.
    """
    limit_s = OCR_WALL_CLOCK_S if ocr.tell_reader(folder) else WALL_CLOCK_S
    child = start_reader(file.content_type, folder)
    try:
        status = _wait(child, file, limit_s)
    finally:
        if child.poll() is None:
            child.kill()
            child.wait()
    if status == -signal.SIGTERM and drain.has_begun(TICK_S):  # sent to all processes, before it ignored it
        raise Draining
    if status == 0:
        outcome = _outcome(file, folder)
        if outcome.error:
            logger.info("file %s: %s %s", file.pk, outcome.error, end_of_log(folder))
        return outcome
    logger.warning("file %s: its reader ended with %s: %s", file.pk, status, end_of_log(folder))
    killed = status < 0 and signal.Signals(-status) in _LIMIT_SIGNALS
    return Outcome(error=limits_code(file.content_type) if killed else crash_code(file.content_type))


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
            if not file.extend_lease():
                raise LostLease


def _outcome(file: File, folder: Path) -> Outcome:
    """What the child has left, if it is well-formed: the child has read hostile bytes."""
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
