"""Reads Word documents: headers, the content in order, footers, notes, comments.

It reads the XML itself, because python-docx skips content controls, tracked insertions, text boxes, notes, nested
tables, formulas, numbers of lists and targets of links.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ingest.reader.numbering import Numbering
from ingest.reader.office_xml import W
from ingest.reader.reading_outcome import ReadText
from ingest.reader.unread import named_if_empty
from ingest.reader.word_paragraph import UNSEEN, ParagraphText
from ingest.reader.zip_archive import open_checked

MAX_HEADING_CHARACTERS: Final = 100
# Word allows no more columns.
_MAX_SPAN: Final = 63
_HEADING: Final = re.compile(r"heading ([1-6])", re.IGNORECASE)
# Parts beside the body, by the last word of their relationship type, each with the label of its notes.
_AFTER: Final = {"footer": "", "footnotes": "[^{}]: ", "endnotes": "[^e{}]: ", "comments": "Comment: "}


def read(path: Path) -> ReadText:
    open_checked(path).close()
    import docx

    document = docx.Document(str(path))
    lists, styles = _related(document.part, "numbering"), _related(document.part, "styles")
    body, beside = _Part(document.part, Numbering(lists, styles)), Numbering(lists, styles)
    levels = _heading_levels(styles)
    content = (_with_level(text, element, levels) for text, element in body.blocks(document.element.body))
    parts = [*_beside(document, "header", "", beside), *content]
    for kind, label in _AFTER.items():
        parts += _beside(document, kind, label, beside)
    return named_if_empty("\n\n".join(filter(None, parts)), [document.element])


def _beside(document: Any, kind: str, label: str, numbering: Numbering) -> list[str]:
    """Return the texts of all parts of a kind; equal texts of several sections appear once."""
    texts: dict[str, None] = {}
    for relation in document.part.rels.values():
        if relation.is_external or relation.reltype.rpartition("/")[2] != kind:
            continue
        part, root = _Part(relation.target_part, numbering), _root(relation.target_part)
        for note in root if label else [root]:
            text = "\n\n".join(text for text, _ in part.blocks(note) if text)
            if text:
                texts[label.format(note.get(f"{W}id")) + text] = None
    return list(texts)


def _root(part: Any) -> Any:
    from docx.oxml import parse_xml

    return parse_xml(part.blob)


def _related(part: Any, kind: str) -> Any:
    """Return the root of the related part of this kind; None if there is none."""
    for relation in part.rels.values():
        if not relation.is_external and relation.reltype.rpartition("/")[2] == kind:
            return _root(relation.target_part)
    return None


class _Part:
    """A part of the document, with its own relationships."""

    def __init__(self, part: Any, numbering: Numbering) -> None:
        self._targets = {key: one.target_ref for key, one in part.rels.items() if one.is_external}
        self._numbering = numbering

    def blocks(self, parent: Any) -> Iterator[tuple[str, Any]]:
        """Yield paragraphs and tables as texts with their elements, also those in content controls and insertions."""
        for element in parent:
            if element.tag == f"{W}p":
                paragraph = ParagraphText(element, self._targets)
                yield self._numbered(paragraph.text, element), element
                for box in paragraph.boxes:
                    yield from self.blocks(box)
            elif element.tag == f"{W}tbl":
                yield "\n".join(map(self._row, _inside(element, f"{W}tr"))), element
            elif element.tag not in UNSEEN:
                yield from self.blocks(element)

    def _numbered(self, text: str, paragraph: Any) -> str:
        """Add the number to a text. A paragraph without text is counted too, unless it was deleted."""
        if not text and paragraph.find(f"{W}pPr/{W}rPr/{W}del") is not None:
            return ""
        label = self._numbering.label(paragraph)
        return f"{label} {text}" if text and label else text

    def _row(self, row: Any) -> str:
        cells: list[str] = []
        for cell in _inside(row, f"{W}tc"):
            text = " ".join(text for text, _ in self.blocks(cell))
            cells += [" ".join(text.split()), *[""] * (_span(cell) - 1)]
        return " | ".join(cells)


def _inside(element: Any, tag: str) -> Iterator[Any]:
    """Yield rows or cells, also those in content controls, without those of nested tables and deleted rows."""
    for child in element:
        if child.tag == tag:
            if child.find(f"{W}trPr/{W}del") is None:
                yield child
        elif child.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}customXml"):
            yield from _inside(child, tag)


def _span(cell: Any) -> int:
    span = cell.find(f"{W}tcPr/{W}gridSpan")
    value = "1" if span is None else span.get(f"{W}val", "1")
    return min(int(value), _MAX_SPAN) if value.isdecimal() and value.isascii() else 1


def _heading_levels(styles: Any) -> dict[str, int]:
    """Return the levels of headings by the ids of their styles."""
    levels: dict[str, int] = {}
    for style in () if styles is None else styles.iter(f"{W}style"):
        name = style.find(f"{W}name")
        found = None if name is None else _HEADING.fullmatch(name.get(f"{W}val", ""))
        if found:
            levels[style.get(f"{W}styleId", "")] = int(found[1])
    return levels


def _with_level(text: str, element: Any, levels: Mapping[str, int]) -> str:
    """Put the marks of the level before the text of a heading."""
    if not text or len(text) > MAX_HEADING_CHARACTERS or element.tag != f"{W}p":
        return text
    style = element.find(f"{W}pPr/{W}pStyle")
    level = 0 if style is None else levels.get(style.get(f"{W}val", ""), 0)
    return f"{'#' * level} {text}" if level else text
