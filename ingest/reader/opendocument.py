"""Reads OpenDocument texts, spreadsheets and presentations (LibreOffice) from their XML."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from lxml import etree

from ingest.reader.reading_outcome import Unreadable
from ingest.reader.tables import MAX_COLUMNS, MAX_ROWS, MAX_SHEETS, join_cells, preview
from ingest.reader.zip_archive import open_checked

_NAMESPACE: Final = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
_TEXT, _TABLE, _OFFICE = (_NAMESPACE % name for name in ("text", "table", "office"))
_DRAW, _STYLE = (_NAMESPACE % name for name in ("drawing", "style"))
# Deleted content, and elements for programs only.
_UNSEEN: Final = frozenset(
    {f"{_TEXT}tracked-changes", f"{_OFFICE}event-listeners", f"{_OFFICE}forms", f"{_TEXT}sequence-decls"}
)
_SPACES: Final = re.compile(r"[ \t\r\n]+")
_MAX_SPACES: Final = 100
_MAX_LEVEL: Final = 6
_MAX_REPEATED: Final = 10**7


def read(path: Path) -> str:
    body, header = _parts(path)
    return "\n\n".join(part for part in (*_blocks(header), *_blocks(body)) if part)


def read_slides(path: Path) -> str:
    body, _ = _parts(path)
    slides = [
        "\n".join([f"Slide {number}", *filter(None, _blocks(page))])
        for number, page in enumerate(body.iter(f"{_DRAW}page"), 1)
    ]
    return "\n\n".join(slides)


def read_sheets(path: Path) -> str:
    body, _ = _parts(path)
    sheets = list(body.iter(f"{_TABLE}table"))
    more = ", ".join(_name(sheet) for sheet in sheets[MAX_SHEETS:])
    parts = [_sheet(sheet) for sheet in sheets[:MAX_SHEETS]]
    return "\n\n".join([*parts, *([f"Further sheets, which are not shown: {more}"] if more else [])])


def _parts(path: Path) -> tuple[Any, Any]:
    """Return the body, and the headers and footers of the pages. Raises Unreadable."""
    with open_checked(path) as archive:
        names = set(archive.namelist())
        manifest = archive.read("META-INF/manifest.xml") if "META-INF/manifest.xml" in names else b""
        if b"encryption-data" in manifest:
            raise Unreadable("document_encrypted")
        if "content.xml" not in names:
            raise Unreadable("document_corrupt")
        content = _parsed(archive.read("content.xml"))
        styles = _parsed(archive.read("styles.xml")) if "styles.xml" in names else etree.Element("none")
    body = content.find(f"{_OFFICE}body")
    if body is None:
        raise Unreadable("document_corrupt")
    beside = etree.Element("beside")
    for kind in ("header", "footer"):
        beside.extend(list(styles.iter(f"{_STYLE}{kind}")))
    return body, beside


def _parsed(source: bytes) -> Any:
    try:
        return etree.fromstring(source, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        raise Unreadable("document_corrupt") from None


def _blocks(parent: Any) -> Iterator[str]:
    """Yield paragraphs and tables, also those in sections, lists and frames. Notes follow their paragraph."""
    for element in parent:
        if element.tag in (f"{_TEXT}p", f"{_TEXT}h"):
            apart: list[Any] = []
            text = "".join(_pieces(element, apart)).strip()
            yield f"{_marks(element)}{text}" if text else ""
            for each in apart:
                yield _label(each) + "\n\n".join(filter(None, _blocks(each)))
        elif element.tag == f"{_TABLE}table":
            yield "\n".join(join_cells(row) for row in _rows(element) if any(row))
        elif element.tag not in _UNSEEN:
            yield from _blocks(element)


def _pieces(element: Any, apart: list[Any]) -> Iterator[str]:
    """Yield the text of a paragraph, and add notes, comments and text boxes to `apart`."""
    yield _flat(element.text)
    for child in element:
        tag = child.tag
        if tag == f"{_TEXT}s":
            yield " " * _number(child, f"{_TEXT}c", _MAX_SPACES)
        elif tag in (f"{_TEXT}tab", f"{_TEXT}line-break"):
            yield "\t" if tag == f"{_TEXT}tab" else "\n"
        elif tag == f"{_TEXT}note":
            yield f"[^{child.findtext(f'{_TEXT}note-citation') or ''}]"
            apart.append(child)
        elif tag in (f"{_OFFICE}annotation", f"{_DRAW}text-box"):
            apart.append(child)
        elif isinstance(tag, str) and tag not in _UNSEEN:
            yield from _pieces(child, apart)
        yield _flat(child.tail)


def _flat(text: str | None) -> str:
    """Reduce white space to single spaces. Significant spaces and breaks are elements."""
    return _SPACES.sub(" ", text or "")


def _label(element: Any) -> str:
    if element.tag == f"{_TEXT}note":
        return f"[^{element.findtext(f'{_TEXT}note-citation') or ''}]: "
    return "Comment: " if element.tag == f"{_OFFICE}annotation" else ""


def _marks(element: Any) -> str:
    if element.tag != f"{_TEXT}h":
        return ""
    return "#" * _number(element, f"{_TEXT}outline-level", _MAX_LEVEL) + " "


def _sheet(sheet: Any) -> str:
    first: list[list[str]] = []
    total = columns = 0
    for row in _rows(sheet):
        while row and not row[-1]:
            row.pop()
        if row:
            total += 1
            columns = max(columns, len(row))
            if len(first) <= MAX_ROWS:
                first.append(row)
    return preview(f"Sheet {_name(sheet)}", first, total, columns)


def _rows(table: Any) -> Iterator[list[str]]:
    """Yield the rows with their cells, MAX_COLUMNS at most.
    A repeated row is yielded as often as a preview could show it, at most.
    """
    for row in table.iter(f"{_TABLE}table-row"):
        cells: list[str] = []
        for cell in row:
            if cell.tag in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                repeated = _number(cell, f"{_TABLE}number-columns-repeated", MAX_COLUMNS - len(cells))
                cells += [" ".join(filter(None, _blocks(cell)))] * repeated
        for _ in range(_number(row, f"{_TABLE}number-rows-repeated", MAX_ROWS + 1)):
            yield list(cells)


def _number(element: Any, name: str, limit: int) -> int:
    value = element.get(name, "1")
    given = (
        int(value) if value.isascii() and value.isdecimal() and len(value) < len(str(_MAX_REPEATED)) else 1
    )
    return max(0, min(given, limit))


def _name(sheet: Any) -> str:
    return str(sheet.get(f"{_TABLE}name", ""))
