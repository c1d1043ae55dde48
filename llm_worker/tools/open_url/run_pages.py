"""RunPages: the pages that one attempt at a run has opened, each read in a process of its own.

The latest pages are kept, so they are fetched only once. The process limits what a hostile page or PDF takes of memory and
processor time (ingest/reader). A thread waits for it, so the event loop is never blocked. Cancelling a call kills the process.
"""

import asyncio
import logging
import os
import subprocess
import tempfile
from collections import OrderedDict
from pathlib import Path
from typing import Final

import msgspec

from chat.protocol.errors import FILE_ERRORS
from knowledge.fetching.page import HTML_TYPES, FetchedPage, fetch_page
from knowledge.fetching.target import UrlRefused
from knowledge.files.reader_process import MAIN_TEXT, end_of_log, start_reader
from knowledge.texts.text_encodings import decode_certain, is_binary
from llm_worker.tools.fair_slots import LoopSlots
from llm_worker.tools.in_thread import run_in_thread
from llm_worker.tools.tool import Page, ToolFailed

logger = logging.getLogger(__name__)

# The limit from the start of the process to its end.
WALL_CLOCK_S: Final = 20.0
# The characters of a page; the rest is not read.
MAX_CHARACTERS: Final = 1_000_000
# Concurrent readers of one worker process, two at least: each may take as much memory as the reader of an upload.
MAX_PROCESSES: Final = max(2, os.cpu_count() or 1)
_MAX_OUTCOME_BYTES: Final = 64 * 1024
_SLOTS: Final = LoopSlots(MAX_PROCESSES, each=MAX_PROCESSES // 2)


class PageUnreadable(Exception):
    """The page cannot be read. code: as in chat/protocol/errors.py."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


class _Outcome(msgspec.Struct):
    """The members of ingest/reader/reading_outcome.py that are used here."""

    error: str = ""
    has_text: bool = False
    title: str = ""
    published: str = ""


_decode: Final = msgspec.json.Decoder(_Outcome).decode


async def read_in_process(fetched: FetchedPage, content_type: str) -> Page:
    """Read a page in a process of its own. Raises PageUnreadable."""
    free = await _SLOTS.take()
    reading = _Reading(fetched, content_type)
    try:
        return await run_in_thread(reading.run)
    finally:
        reading.stop()
        free()


class _Reading:
    """One process. run() is called in a thread, stop() from anywhere."""

    def __init__(self, fetched: FetchedPage, content_type: str) -> None:
        self._fetched, self._content_type = fetched, content_type
        self._process: subprocess.Popen[bytes] | None = None
        self._is_stopped = False

    def stop(self) -> None:
        self._is_stopped = True
        if self._process and self._process.returncode is None:
            self._process.kill()

    def run(self) -> Page:
        """Read the page, blocking. Raises PageUnreadable."""
        with tempfile.TemporaryDirectory(prefix="turnwire-page-") as name:
            folder = Path(name)
            (folder / "content").write_bytes(self._fetched.content)
            (folder / "address").write_text(self._fetched.url)
            self._process = start_reader(self._content_type, folder)
            try:
                # A stop between the start and this assignment did not see the process.
                status = self._process.wait(0 if self._is_stopped else WALL_CLOCK_S)
            except subprocess.TimeoutExpired:
                raise PageUnreadable("document_limits") from None
            finally:
                self._process.kill()
                self._process.wait()
            if status:
                logger.warning("the reader of a page ended with %s: %s", status, end_of_log(folder))
                raise PageUnreadable("document_limits" if status < 0 else "document_corrupt")
            return self._page(folder)

    def _page(self, folder: Path) -> Page:
        """Load the output of the process, which has read hostile bytes. Raises PageUnreadable if it is malformed."""
        outcome_file, text_file = folder / "outcome.json", folder / "text"
        if any(path.is_symlink() for path in (outcome_file, text_file)):
            raise PageUnreadable("document_corrupt")
        try:
            with outcome_file.open("rb") as file:
                outcome = _decode(file.read(_MAX_OUTCOME_BYTES))
            if outcome.error:
                raise PageUnreadable(outcome.error)
            with text_file.open(encoding="utf-8", errors="replace") as file:
                text = file.read(MAX_CHARACTERS) if outcome.has_text else ""
        except (OSError, msgspec.DecodeError) as error:
            raise PageUnreadable("document_corrupt") from error
        return Page(self._fetched.url, text, outcome.title, outcome.published)


MAX_KEPT: Final = 8
PDF: Final = "application/pdf"
_FAILURES: Final = FILE_ERRORS | {"page_empty": "There is no text at this address."}
# Codes whose explanation is a status or a content type, which reveals nothing of the network in which this runs.
_EXPLAINED: Final = frozenset({"http_error", "content_type_unsupported"})


class RunPages:
    """Implements Pages."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Page] = OrderedDict()
        self._opening: dict[str, asyncio.Lock] = {}

    async def open(self, url: str) -> Page:
        async with self._opening.setdefault(url, asyncio.Lock()):
            page = self._kept.get(url) or await _open(url)
            self._kept[url] = page
            self._kept.move_to_end(url)
            if len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
            return page


async def _open(url: str) -> Page:
    """Fetch and read a page. Raises ToolFailed, also if it has no text."""
    try:
        fetched = await fetch_page(url, also=(PDF,))
        page = await _read(fetched)
    except UrlRefused as refused:
        logger.info("a page was not opened: %s", refused.code)
        raise ToolFailed(_sentence(refused.code, str(refused))) from refused
    except PageUnreadable as failure:
        logger.info("a page was not read: %s", failure.code)
        raise ToolFailed(_sentence(failure.code)) from failure
    if not page.text.strip():
        raise ToolFailed(_sentence("page_empty"))
    return page


async def _read(fetched: FetchedPage) -> Page:
    """Read the text of a fetched page, by its content type. Raises PageUnreadable, UrlRefused."""
    if not fetched.content.strip():
        return Page(fetched.url, "")
    if fetched.content_type in HTML_TYPES:
        return await read_in_process(fetched, MAIN_TEXT)
    if fetched.content_type == PDF:
        return await read_in_process(fetched, PDF)
    if is_binary(fetched.content):
        raise UrlRefused("content_type_unsupported", "not a text")
    text = decode_certain(fetched.content)
    if text is None:
        return await read_in_process(fetched, "text/plain")
    return Page(fetched.url, text[:MAX_CHARACTERS])


def _sentence(code: str, explained: str = "") -> str:
    why = f"{code}: {explained}" if code in _EXPLAINED and explained else code
    return f"{_FAILURES.get(code, FILE_ERRORS['file_unreadable'])} ({why})"
