"""Reads the main text of a page of the web as Markdown, without its menus, advertisements and footers.

The extractor's time grows faster than some pages do: at the soft limit of the processor time, all visible text is read instead.
"""

import logging
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from datetime import date
from pathlib import Path
from types import FrameType
from typing import Any, Final, NamedTuple

import trafilatura
from lxml import etree
from trafilatura.metadata import extract_metadata

from ingest.reader.html import visible_text
from ingest.reader.outcome import Outcome
from ingest.reader.storable import storable
from ingest.reader.text import decode

# Of a text; what is behind is not read (llm_worker/tools/page_reader.py).
MAX_CHARACTERS: Final = 1_000_000
MAX_TITLE_CHARACTERS: Final = 300
# Elements without a page's own text, and how much of it a page has that is not made by its scripts.
_NO_TEXT: Final = "head script style noscript template nav header footer aside form svg".split()  # noqa: SIM905
_LEAST_CHARACTERS: Final = 80
_LONGEST_ASIDE: Final = 1_000
# Of a page whose text only scripts show: what follows are menus and the like, if anything.
NO_MAIN_TEXT: Final = "[No main text was found: the page may show it by scripts only. It shows without them:]"
# The extractor takes the first element whose class says that it is the text. In forums each post is one: where all of the page's text is
# so many times as long, all of it is read.
_SEVERAL_TEXTS: Final = 1.5
# Names of classes and ids of what stands around a text.
_ASIDE: Final = re.compile(
    r"comment|disqus|cookie|consent|newsletter|related|recommend|sidebar|footer|promo|advert|share|social",
    re.IGNORECASE,
)


class _Found(NamedTuple):
    """is_shown_by_scripts: the page has hardly a word beside menus and the like."""

    text: str
    title: str = ""
    published: str = ""
    is_shown_by_scripts: bool = False


class _TooSlow(Exception):
    pass


def read_main_text(path: Path, target: Path) -> Outcome:
    """Write the text to `target`. Raises Unreadable."""
    page = decode(path.read_bytes())
    logging.disable(logging.CRITICAL)  # what it finds on a page is no concern of operators
    address = path.with_name("address").read_text()
    found = _extract(page.text, address)
    text = found.text or visible_text(page.text)
    text = page.with_note(f"{NO_MAIN_TEXT}\n\n{text}".rstrip() if found.is_shown_by_scripts else text)
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
    # Pages may leave out the tags of html, head and body; what has no "html" near its start is refused as no page.
    tree = trafilatura.load_html(f"<!doctype html>{source}")
    if tree is None:
        return _Found("")
    known = extract_metadata(tree, default_url=address)
    found = _Found(_text(tree, address), known.title or "", _date(known.date))
    try:
        whole = _text(_without_marks(tree), address)
        if len(whole) > _SEVERAL_TEXTS * len(found.text):
            found = found._replace(text=whole)
        return found._replace(is_shown_by_scripts=_is_shown_by_scripts(tree))
    except _TooSlow:
        return found


def _text(tree: Any, address: str) -> str:
    text = trafilatura.extract(
        tree,
        url=address,
        output_format="markdown",
        include_comments=False,
        include_formatting=True,
        include_links=True,
        include_tables=True,
    )
    return (text or "").strip()


def _is_shown_by_scripts(tree: Any) -> bool:
    if tree.find(".//script") is None:
        return False
    bare = deepcopy(tree)
    etree.strip_elements(bare, *_NO_TEXT, with_tail=False)
    for element in [one for one in bare.iter(etree.Element) if _is_aside(one)]:
        # A longer one may be what holds the page, and is named after what stands beside it.
        if not _has_text(element, _LONGEST_ASIDE):
            element.drop_tree()
    return not _has_text(bare, _LEAST_CHARACTERS)


def _has_text(element: Any, characters: int) -> bool:
    """Whether it has so many, without space around them."""
    length = 0
    for text in element.itertext():
        length += len(text.strip())
        if length >= characters:
            return True
    return False


def _without_marks(tree: Any) -> Any:
    """A copy without the names of classes and ids, and without what these say is no main text."""
    copied = deepcopy(tree)
    for element in list(copied.iter(etree.Element)):
        if _is_aside(element):
            element.drop_tree()
        for name in ("class", "id"):
            element.attrib.pop(name, None)
    return copied


def _is_aside(element: Any) -> bool:
    names = f"{element.get('class', '')} {element.get('id', '')}"
    return bool(_ASIDE.search(names)) and element.getparent() is not None


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
