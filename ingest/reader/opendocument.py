"""Reads OpenDocument texts, spreadsheets and presentations (LibreOffice) from their XML."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

from lxml import etree

from ingest.reader.counting import written
from ingest.reader.formatting import PLAIN, Form, marked, with_reading
from ingest.reader.office_xml import whole_number
from ingest.reader.reading_outcome import ReadText, Unreadable
from ingest.reader.tables import (
    MAX_COLUMNS,
    MAX_ROWS,
    MAX_SHEETS,
    join_cells,
    join_previews,
    preview,
)
from ingest.reader.zip_archive import open_checked

NAMESPACE: Final = "{urn:oasis:names:tc:opendocument:xmlns:%s:1.0}"
TEXT: Final = NAMESPACE % "text"
_STYLE: Final = NAMESPACE % "style"
_MAX_START: Final = 10**6
_MAX_LIST_LEVEL: Final = 10
_MAX_AROUND: Final = 20  # characters before or behind a number
_FORMS: Final = {"a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}


class _Level(NamedTuple):
    """A level of a list with numbers. display: of how many levels the numbers are counted."""

    start: int
    form: str
    prefix: str
    suffix: str
    display: int


class Styles:
    """The styles in the roots of content.xml and styles.xml."""

    def __init__(self, roots: Iterable[Any]) -> None:
        self._forms: dict[str, Form] = {}
        self._levels: dict[tuple[str, int], _Level] = {}
        for root in roots:
            for style in root.iter(f"{_STYLE}style"):
                form = _form(style.find(f"{_STYLE}text-properties"))
                if form != PLAIN:
                    self._forms[style.get(f"{_STYLE}name", "")] = form
            for style in root.iter(f"{TEXT}list-style"):
                name = style.get(f"{_STYLE}name", "")
                for level in style.iterchildren(f"{TEXT}list-level-style-number"):
                    place = whole_number(level.get(f"{TEXT}level"), _MAX_LIST_LEVEL)
                    self._levels[name, place] = _level(level)

    def form(self, element: Any, outer: Form) -> Form:
        """Return the form of a span in a text of the form `outer`."""
        own = self._forms.get(element.get(f"{TEXT}style-name", ""), PLAIN)
        return Form(own.script or outer.script, own.is_struck or outer.is_struck)

    def start(self, name: str, level: int) -> int:
        """Return the first number of a list. `level`: from 1."""
        definition = self._levels.get((name, level))
        return definition.start if definition else 1

    def label(self, name: str, numbers: tuple[int, ...]) -> str:
        """Return the label of an item of a list; empty if it shows no number. `numbers`: of its levels."""
        definition = self._levels.get((name, len(numbers)))
        if definition is None or not definition.form:
            return ""
        counted = list(enumerate(numbers, 1))[-max(definition.display, 1) :]
        texts = (written(number, self._form_of(name, level)) for level, number in counted)
        return f"{definition.prefix}{'.'.join(texts)}{definition.suffix}".strip()

    def _form_of(self, name: str, level: int) -> str:
        definition = self._levels.get((name, level))
        return _FORMS.get(definition.form, "decimal") if definition else "decimal"


def _form(properties: Any) -> Form:
    if properties is None:
        return PLAIN
    position = properties.get(f"{_STYLE}text-position", "").split()
    shift = position[0] if position else ""
    script = -1 if shift == "sub" or shift.startswith("-") else int(shift.strip("0%.") != "")
    # Either of the two is enough: style and type are `none` by default.
    lines = (properties.get(f"{_STYLE}text-line-through-{name}", "none") for name in ("style", "type"))
    return Form(script, any(line != "none" for line in lines))


def _level(element: Any) -> _Level:
    return _Level(
        start=whole_number(element.get(f"{TEXT}start-value", "1"), _MAX_START),
        form=element.get(f"{_STYLE}num-format", ""),
        prefix=element.get(f"{_STYLE}num-prefix", "")[:_MAX_AROUND],
        suffix=element.get(f"{_STYLE}num-suffix", "")[:_MAX_AROUND],
        display=whole_number(element.get(f"{TEXT}display-levels", "1"), _MAX_LIST_LEVEL),
    )


_TABLE, _OFFICE, _DRAW = (NAMESPACE % name for name in ("table", "office", "drawing"))
_COMMENT: Final = f"{_OFFICE}annotation"
# Deleted content, and elements for programs only.
_UNSEEN: Final = frozenset(
    {f"{TEXT}tracked-changes", f"{_OFFICE}event-listeners", f"{_OFFICE}forms", f"{TEXT}sequence-decls"}
)
_ROW_GROUPS: Final = tuple(f"{_TABLE}table-{name}" for name in ("header-rows", "rows", "row-group"))
_SPACES: Final = re.compile(r"[ \t\r\n]+")
_MAX_SPACES: Final = 100
_MAX_LEVEL: Final = 6
_MAX_REPEATED: Final = 10**7


def read(path: Path) -> str:
    body, header, content = _parts(path)
    return "\n\n".join(part for part in (*content.blocks(header), *content.blocks(body)) if part)


def read_slides(path: Path) -> str:
    body, _, content = _parts(path)
    slides = [
        "\n".join([f"Slide {number}", *filter(None, content.blocks(page))])
        for number, page in enumerate(body.iter(f"{_DRAW}page"), 1)
    ]
    return "\n\n".join(slides)


def read_sheets(path: Path) -> ReadText:
    body, _, content = _parts(path)
    sheets = list(body.iter(f"{_TABLE}table"))
    parts = [content.sheet(sheet) for sheet in sheets[:MAX_SHEETS]]
    return join_previews(parts, [_name(sheet) for sheet in sheets[MAX_SHEETS:]])


def _parts(path: Path) -> tuple[Any, Any, "_Content"]:
    """Return the body, and the headers and footers of the pages, with their reader. Raises Unreadable."""
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
    return body, beside, _Content(Styles([styles, content]))


def _parsed(source: bytes) -> Any:
    try:
        return etree.fromstring(source, etree.XMLParser(resolve_entities=False, no_network=True))
    except etree.XMLSyntaxError:
        raise Unreadable("document_corrupt") from None


class _Content:
    """Reads the text of elements. Lists are counted, so that each is read once, in order."""

    def __init__(self, styles: Styles) -> None:
        self._styles = styles
        self._last_numbers: dict[tuple[str, int], int] = {}

    def blocks(self, parent: Iterable[Any]) -> Iterator[str]:
        """Yield paragraphs and tables, also those in sections, lists and frames. Notes follow their paragraph."""
        for element in parent:
            yield from self._block(element)

    def _block(self, element: Any) -> Iterator[str]:
        if element.tag in (f"{TEXT}p", f"{TEXT}h"):
            apart: list[Any] = []
            text = marked(self._pieces(element, PLAIN, apart)).strip()
            yield f"{_marks(element)}{text}" if text else ""
            for each in apart:
                yield _label(each) + "\n\n".join(filter(None, self.blocks(each)))
        elif element.tag == f"{_TABLE}table":
            yield "\n".join(join_cells(row) for row in self._rows(element) if any(row))
        elif element.tag == f"{TEXT}list":
            yield from self._list(element, "", ())
        elif element.tag not in _UNSEEN:
            yield from self.blocks(element)

    def _list(self, numbered: Any, style: str, outer: tuple[int, ...]) -> Iterator[str]:
        """Yield the items of a list. `style`: of the list around it.  outer: numbers of the items around it."""
        style = numbered.get(f"{TEXT}style-name", style)
        place = (style, len(outer) + 1)
        number = self._styles.start(*place) - 1
        if {f"{TEXT}continue-numbering", f"{TEXT}continue-list"} & set(numbered.keys()):
            number = self._last_numbers.get(place, number)
        for item in numbered:
            label = ""
            if item.tag == f"{TEXT}list-item" and any(child.tag != f"{TEXT}list" for child in item):
                start = item.get(f"{TEXT}start-value")
                number = whole_number(start, _MAX_START) if start else number + 1
                label = self._styles.label(style, (*outer, number))
            for child in item:
                inner = child.tag == f"{TEXT}list"
                texts = self._list(child, style, (*outer, number)) if inner else self._block(child)
                for text in texts:
                    yield f"{label} {text}" if label and text else text
                    label = "" if text else label
        self._last_numbers[place] = number

    def _pieces(self, element: Any, form: Form, apart: list[Any]) -> Iterator[tuple[str, Form]]:
        """Yield the text of a paragraph, and add notes, comments and text boxes to `apart`."""
        yield _flat(element.text), form
        for child in element:
            tag = child.tag
            if tag == f"{TEXT}s":
                yield " " * _number(child, f"{TEXT}c", _MAX_SPACES), form
            elif tag in (f"{TEXT}tab", f"{TEXT}line-break"):
                yield "\t" if tag == f"{TEXT}tab" else "\n", form
            elif tag == f"{TEXT}note":
                yield f"[^{child.findtext(f'{TEXT}note-citation') or ''}]", PLAIN
                apart.append(child)
            elif tag == f"{TEXT}ruby":
                parts = (child.find(f"{TEXT}ruby-{name}") for name in ("base", "text"))
                texts = (marked(self._pieces(part, PLAIN, apart)) for part in parts if part is not None)
                yield with_reading(next(texts, ""), next(texts, "")), form
            elif tag in (_COMMENT, f"{_DRAW}text-box"):
                apart.append(child)
            elif isinstance(tag, str) and tag not in _UNSEEN:
                yield from self._pieces(child, self._styles.form(child, form), apart)
            yield _flat(child.tail), form

    def sheet(self, sheet: Any) -> ReadText:
        first: list[list[str]] = []
        total = columns = 0
        for row in self._rows(sheet):
            while row and not row[-1]:
                row.pop()
            if row:
                total += 1
                columns = max(columns, len(row))
                if len(first) <= MAX_ROWS:
                    first.append(row)
        return preview(f"Sheet {_name(sheet)}", first, total, columns)

    def _rows(self, table: Any) -> Iterator[list[str]]:
        """Yield the rows with their cells, MAX_COLUMNS at most.
        A repeated row is yielded as often as a preview could show it, at most.
        """
        for row in _own_rows(table):
            cells: list[str] = []
            for cell in row:
                if cell.tag in (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                    repeated = _number(cell, f"{_TABLE}number-columns-repeated", MAX_COLUMNS - len(cells))
                    cells += [self._cell(cell)] * repeated
            for _ in range(_number(row, f"{_TABLE}number-rows-repeated", MAX_ROWS + 1)):
                yield list(cells)

    def _cell(self, cell: Any) -> str:
        """Return the value of a cell, with its comments behind it."""
        values = self.blocks(child for child in cell if child.tag != _COMMENT)
        comments = (
            " ".join(filter(None, self.blocks(annotation))) for annotation in cell.iterchildren(_COMMENT)
        )
        notes = (f"(Comment: {comment})" for comment in comments)
        return " ".join((*filter(None, values), *notes))


def _own_rows(table: Any) -> Iterator[Any]:
    """Yield the rows of a table, also those in groups, without those of tables in its cells."""
    for child in table:
        if child.tag == f"{_TABLE}table-row":
            yield child
        elif child.tag in _ROW_GROUPS:
            yield from _own_rows(child)


def _flat(text: str | None) -> str:
    """Reduce white space to single spaces. Significant spaces and breaks are elements."""
    return _SPACES.sub(" ", text or "")


def _label(element: Any) -> str:
    if element.tag == f"{TEXT}note":
        return f"[^{element.findtext(f'{TEXT}note-citation') or ''}]: "
    return "Comment: " if element.tag == _COMMENT else ""


def _marks(element: Any) -> str:
    if element.tag != f"{TEXT}h":
        return ""
    return "#" * _number(element, f"{TEXT}outline-level", _MAX_LEVEL) + " "


def _number(element: Any, name: str, limit: int) -> int:
    value = element.get(name, "1")
    given = (
        int(value) if value.isascii() and value.isdecimal() and len(value) < len(str(_MAX_REPEATED)) else 1
    )
    return max(0, min(given, limit))


def _name(sheet: Any) -> str:
    return str(sheet.get(f"{_TABLE}name", ""))
