"""Reads the visible text of an HTML page, without scripts and styles."""

import re
from pathlib import Path
from typing import Any, Final

from lxml import etree, html

from ingest.reader.html_formatting import BLOCKS, spell_formatting
from ingest.reader.reading_outcome import ReadText
from ingest.reader.text import decode

_UNSEEN: Final = frozenset(
    {"script", "style", "template", "noscript", "svg", "math", "iframe", "object", "head"}
)
_BEFORE: Final = {"li": "- ", **{f"h{level}": "#" * level + " " for level in range(1, 7)}}
_SPACES: Final = re.compile(r"[ \t\r\f\v\xa0]+")
_LINES: Final = re.compile(r"\s*\n\s*\n\s*")


def read(path: Path) -> ReadText:
    page = decode(path.read_bytes())
    return page.noted(visible_text(page.text))


def visible_text(source: str) -> str:
    """Return the title, and the text with one line per block."""
    if not source.strip():
        return ""
    # Bytes, because lxml refuses a str that declares an encoding.
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root = html.document_fromstring(source.encode("utf-8", "replace"), parser=parser)
    except etree.ParserError:  # nothing but comments
        return ""
    spell_formatting(root)
    title = root.findtext(".//title") or ""
    body = _LINES.sub("\n\n", "\n".join(line.strip() for line in "".join(_pieces(root)).split("\n")))
    return "\n\n".join(part for part in (" ".join(title.split()), body.strip()) if part)


def _pieces(root: Any) -> list[str]:
    pieces: list[str] = []
    unseen = 0
    for event, element in etree.iterwalk(root, events=("start", "end")):
        name = element.tag if isinstance(element.tag, str) else ""
        if event == "start":
            unseen += name in _UNSEEN
            if not unseen:
                pieces.append(_opening(element, name) + _flat(element.text))
            continue
        if not unseen:
            pieces.append("\n" if name in BLOCKS else " | " if name in ("td", "th") else "")
        unseen -= name in _UNSEEN
        if not unseen:
            pieces.append(_flat(element.tail))
    return pieces


def _opening(element: Any, name: str) -> str:
    parent = element.getparent()
    is_numbered = name == "li" and parent is not None and parent.tag == "ol"
    return ("\n" if name in BLOCKS else "") + ("" if is_numbered else _BEFORE.get(name, ""))


def _flat(text: str | None) -> str:
    """Reduce white space, and remove soft hyphens: searches do not find a word that contains one."""
    return _SPACES.sub(" ", (text or "").replace("\n", " ").replace("\xad", ""))
