"""Reads the main text of a web page as Markdown, without menus, advertisements and footers.

For some pages, the extractor's time grows faster than their size. At the soft limit of processor time, all visible text
is read instead.
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

from ingest.reader.html import spell_formatting, visible_text
from ingest.reader.reading_outcome import Outcome, storable
from ingest.reader.text import decode

# The longest text; the rest is dropped (llm_worker/tools/open_url/run_pages.py).
MAX_CHARACTERS: Final = 1_000_000
MAX_TITLE_CHARACTERS: Final = 300
# Elements without the page's own text, and the least text of a page that is not built by scripts.
_NO_TEXT: Final = "head script style noscript template nav header footer aside form svg".split()  # noqa: SIM905
_LEAST_CHARACTERS: Final = 80
_LONGEST_ASIDE: Final = 1_000
# The note for a page whose text only scripts show. Menus and the like may follow.
NO_MAIN_TEXT: Final = "[No main text was found: the page may show it by scripts only. It shows without them:]"
# The extractor takes the first element whose class marks it as the text. In forums each post is such an element. If the
# text of the whole page is so many times as long, all of it is read.
_SEVERAL_TEXTS: Final = 1.5
# An item of a list whose number is its text. The extractor escapes the point behind it.
_ESCAPED_NUMBER: Final = re.compile(r"(?m)^( *)- (-?\d+)\\\. ")
# Names of classes and ids of elements around the main text.
_ASIDE: Final = re.compile(
    r"comment|disqus|cookie|consent|newsletter|related|recommend|sidebar|footer|promo|advert|share|social",
    re.IGNORECASE,
)

# What the extractor says of a page does not concern operators.
for _library in ("trafilatura", "htmldate", "courlan"):
    logging.getLogger(_library).setLevel(logging.CRITICAL)


class _Found(NamedTuple):
    """The result of the extractor. is_shown_by_scripts: the page has scripts, and hardly any text beside menus."""

    text: str
    title: str = ""
    published: str = ""
    is_shown_by_scripts: bool = False


class _TooSlow(Exception):
    pass


def read_main_text(path: Path, target: Path) -> Outcome:
    """Write the main text of the page to `target`. Raises Unreadable."""
    page = decode(path.read_bytes())
    address = path.with_name("address").read_text()
    found = _extract(page.text, address)
    text = found.text or visible_text(page.text)
    text = page.with_note(f"{NO_MAIN_TEXT}\n\n{text}".rstrip() if found.is_shown_by_scripts else text)
    target.write_bytes(storable(text[:MAX_CHARACTERS]).encode())
    title = storable(" ".join(found.title.split()))[:MAX_TITLE_CHARACTERS]
    return Outcome(has_text=True, title=title, published=found.published)


def _extract(source: str, address: str) -> _Found:
    """Extract the main text. It is empty if there is none, or if the extractor fails or takes too long."""
    try:
        with _ended_at_soft_limit():
            return _main_text(source, address)
    except _TooSlow:
        return _Found("")
    except Exception:  # noqa: BLE001  a library raises anything for a hostile page; its visible text is read then
        return _Found("")


def _main_text(source: str, address: str) -> _Found:
    # Pages may omit the tags of html, head and body, but the library refuses a page without "html" near its start.
    tree = trafilatura.load_html(f"<!doctype html>{source}")
    if tree is None:
        return _Found("")
    # The library writes struck words, but scripts as HTML, and numbers lists from 1 on.
    spell_formatting(tree, strikes=False)
    for numbered in tree.iter("ol"):
        numbered.tag = "ul"
    # Not extensively: it takes the largest number in the text that may be a year for the date.
    known = extract_metadata(tree, default_url=address, extensive=False)
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
    return _ESCAPED_NUMBER.sub(r"\1\2. ", (text or "").strip())


def _is_shown_by_scripts(tree: Any) -> bool:
    if tree.find(".//script") is None:
        return False
    bare = deepcopy(tree)
    etree.strip_elements(bare, *_NO_TEXT, with_tail=False)
    for element in [one for one in bare.iter(etree.Element) if _is_aside(one)]:
        # A longer element may contain the whole page, and be named after the elements beside the text.
        if not _has_text(element, _LONGEST_ASIDE):
            element.drop_tree()
    return not _has_text(bare, _LEAST_CHARACTERS)


def _has_text(element: Any, characters: int) -> bool:
    """Return whether the element has at least so many characters of text, without surrounding white space."""
    length = 0
    for text in element.itertext():
        length += len(text.strip())
        if length >= characters:
            return True
    return False


def _without_marks(tree: Any) -> Any:
    """Return a copy without class names and ids, and without the elements that these mark as not the main text."""
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
    """Return a date in ISO 8601; empty if the text is not a date."""
    try:
        return date.fromisoformat((text or "")[:10]).isoformat()
    except ValueError:
        return ""


@contextmanager
def _ended_at_soft_limit() -> Iterator[None]:
    def give_up(_signal: int, _frame: FrameType | None) -> None:
        # Only once: the following steps may run up to the hard limit.
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
        raise _TooSlow

    signal.signal(signal.SIGXCPU, give_up)
    try:
        yield
    finally:
        signal.signal(signal.SIGXCPU, signal.SIG_IGN)
