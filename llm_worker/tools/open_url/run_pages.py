"""RunPages: the pages that one attempt at a run has opened. Keeps the latest pages, so they are fetched only once."""

import asyncio
import logging
from collections import OrderedDict
from typing import Final

from chat.protocol.errors import FILE_ERRORS
from knowledge.fetching.page import HTML_TYPES, FetchedPage, fetch_page
from knowledge.fetching.target import UrlRefused
from knowledge.files.reader_process import MAIN_TEXT
from knowledge.texts.text_encodings import decode_certain, is_binary
from llm_worker.tools.open_url.page_reader import MAX_CHARACTERS, PageUnreadable, read_in_process
from llm_worker.tools.tool import Page, ToolFailed

logger = logging.getLogger(__name__)

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
