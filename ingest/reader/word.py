"""Reads Word documents: headers, the content in its order, footers, notes, comments.

Of the XML itself, because python-docx passes over content controls, insertions that are tracked, text boxes, notes, nested tables and
formulas.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

from ingest.reader.archive import open_checked
from ingest.reader.formulas import MATH, latex
from ingest.reader.symbols import symbol

MAX_HEADING_CHARACTERS: Final = 100
# Word allows no more columns.
_MAX_SPAN: Final = 63
_W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_CHARACTERS: Final = {f"{_W}tab": "\t", f"{_W}br": "\n", f"{_W}cr": "\n", f"{_W}noBreakHyphen": "-"}
# The old place of what was moved; and what programs show that do not know the newer form of a drawing.
_UNSEEN: Final = frozenset({f"{_W}moveFrom", f"{_W}del", f"{_W}rPr", f"{_W}pPr", _FALLBACK})
_WRITTEN: Final[dict[str, Callable[[Any], str]]] = {
    f"{_W}t": lambda element: element.text or "",
    f"{_W}sym": lambda element: symbol(element.get(f"{_W}font", ""), element.get(f"{_W}char", "")),
    f"{MATH}oMath": latex,
}
_MARKS: Final = {f"{_W}footnoteReference": "[^{}]", f"{_W}endnoteReference": "[^e{}]"}
# Parts beside the body by the end of their relation's name: what stands before each of their notes.
_AFTER: Final = {"footer": "", "footnotes": "[^{}]: ", "endnotes": "[^e{}]: ", "comments": "Comment: "}


def read(path: Path) -> str:
    open_checked(path).close()
    import docx

    document = docx.Document(str(path))
    body = (_with_level(text, element, document) for text, element in _blocks(document.element.body))
    parts = [*_beside(document, "header", ""), *body]
    for kind, label in _AFTER.items():
        parts += _beside(document, kind, label)
    return "\n\n".join(filter(None, parts))


def _beside(document: Any, kind: str, label: str) -> list[str]:
    """The texts of all parts of a kind; those of several sections that are alike, once."""
    from docx.oxml import parse_xml

    texts: dict[str, None] = {}
    for relation in document.part.rels.values():
        if relation.is_external or relation.reltype.rpartition("/")[2] != kind:
            continue
        root = parse_xml(relation.target_part.blob)
        for note in root if label else [root]:
            text = "\n\n".join(text for text, _ in _blocks(note) if text)
            if text:
                texts[label.format(note.get(f"{_W}id")) + text] = None
    return list(texts)


def _blocks(parent: Any) -> Iterator[tuple[str, Any]]:
    """Paragraphs and tables as texts, with their elements; what wraps them (content controls, insertions) is opened."""
    for element in parent:
        if element.tag == f"{_W}p":
            boxes: list[Any] = []
            yield "".join(_pieces(element, boxes)).strip(), element
            for box in boxes:
                yield from _blocks(box)
        elif element.tag == f"{_W}tbl":
            yield "\n".join(map(_row, _inside(element, f"{_W}tr"))), element
        elif element.tag not in _UNSEEN:
            yield from _blocks(element)


def _pieces(element: Any, boxes: list[Any]) -> Iterator[str]:
    """The text of a paragraph; its text boxes are added to `boxes`."""
    for child in element:
        tag = child.tag
        if tag in _WRITTEN:
            yield _WRITTEN[tag](child)
        elif tag == f"{_W}txbxContent":
            boxes.append(child)
        elif tag in _CHARACTERS:
            is_page = child.get(f"{_W}type") in ("page", "column")
            yield "" if is_page else _CHARACTERS[tag]
        elif tag in _MARKS:
            yield _MARKS[tag].format(child.get(f"{_W}id"))
        elif tag not in _UNSEEN:
            yield from _pieces(child, boxes)


def _row(row: Any) -> str:
    cells: list[str] = []
    for cell in _inside(row, f"{_W}tc"):
        text = " ".join(text for text, _ in _blocks(cell))
        cells += [" ".join(text.split()), *[""] * (_span(cell) - 1)]
    return " | ".join(cells)


def _inside(element: Any, tag: str) -> Iterator[Any]:
    """Rows or cells, also those in content controls; not those of nested tables."""
    for child in element:
        if child.tag == tag:
            yield child
        elif child.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}customXml"):
            yield from _inside(child, tag)


def _span(cell: Any) -> int:
    span = cell.find(f"{_W}tcPr/{_W}gridSpan")
    value = "1" if span is None else span.get(f"{_W}val", "1")
    return min(int(value), _MAX_SPAN) if value.isdecimal() and value.isascii() else 1


def _with_level(text: str, element: Any, document: Any) -> str:
    """With marks of the level of a heading."""
    if not text or len(text) > MAX_HEADING_CHARACTERS or element.tag != f"{_W}p":
        return text  # to look for a style takes ten times as long as to read
    if element.find(f"{_W}pPr/{_W}pStyle") is None:
        return text
    from docx.text.paragraph import Paragraph

    style = Paragraph(element, document).style
    name = (style.name if style is not None else "") or ""
    level = name.removeprefix("Heading ")
    return f"{'#' * int(level)} {text}" if level != name and level in "123456" else text
