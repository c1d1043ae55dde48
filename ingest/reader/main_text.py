"""Reads the main text of a page of the web as Markdown, without its menus, advertisements and footers.

The extractor's time grows faster than some pages do: at the soft limit of the processor time, all visible text is read instead.
"""

import logging
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from types import FrameType
from typing import Final, NamedTuple

import trafilatura
from trafilatura.metadata import extract_metadata

from ingest.reader.html import visible_text
from ingest.reader.outcome import Outcome
from ingest.reader.storable import storable
from ingest.reader.text import decode

# Of a text; what is behind is not read (llm_worker/tools/page_reader.py).
MAX_CHARACTERS: Final = 1_000_000
MAX_TITLE_CHARACTERS: Final = 300


class _Found(NamedTuple):
    text: str
    title: str = ""
    published: str = ""


class _TooSlow(Exception):
    pass


def read_main_text(path: Path, target: Path) -> Outcome:
    """Write the text to `target`. Raises Unreadable."""
    page = decode(path.read_bytes())
    logging.disable(logging.CRITICAL)  # what it finds on a page is no concern of operators
    address = path.with_name("address").read_text()
    found = _extract(page.text, address)
    text = page.with_note(found.text or visible_text(page.text))
    target.write_bytes(storable(text[:MAX_CHARACTERS]).encode())
    title = storable(" ".join(found.title.split()))[:MAX_TITLE_CHARACTERS]
    return Outcome(has_text=True, title=title, published=found.published)


def _extract(source: str, address: str) -> _Found:
    """Without a text where there is none, where the extractor fails, and where it takes too long."""
    try:
        with _ended_at_soft_limit():
            return _main_text(source, address)
    except _TooSlow:
        return _Found("")
    except Exception:  # noqa: BLE001  a library raises anything for a hostile page; its visible text is read then
        return _Found("")


def _main_text(source: str, address: str) -> _Found:
    tree = trafilatura.load_html(source)
    if tree is None:
        return _Found("")
    known = extract_metadata(tree, default_url=address)
    text = trafilatura.extract(
        tree,
        url=address,
        output_format="markdown",
        include_comments=False,
        include_formatting=True,
        include_links=True,
        include_tables=True,
    )
    return _Found((text or "").strip(), known.title or "", _date(known.date))


def _date(text: str | None) -> str:
    """ISO 8601; empty for what is no date."""
    try:
        return date.fromisoformat((text or "")[:10]).isoformat()
    except ValueError:
        return ""


@contextmanager
def _ended_at_soft_limit() -> Iterator[None]:
    def give_up(_signal: int, _frame: FrameType | None) -> None:
        # Once: what follows has the time up to the hard limit.
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        raise _TooSlow

    signal.signal(signal.SIGXCPU, give_up)
    try:
        yield
    finally:
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
