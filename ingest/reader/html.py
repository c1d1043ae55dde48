"""Reads the visible text of an HTML page, without scripts and styles, with the formatting that carries meaning."""

import re
from pathlib import Path
from typing import Any, Final

from lxml import etree, html

from ingest.reader.counting import written
from ingest.reader.formatting import scripted, struck, with_reading
from ingest.reader.reading_outcome import ReadText
from ingest.reader.text import decode

BLOCKS: Final = frozenset(
    """address article aside blockquote br button caption dd details div dl dt fieldset figcaption figure footer form
    h1 h2 h3 h4 h5 h6 header hr legend li main nav ol optgroup option p pre section select summary table textarea tr ul""".split()  # noqa: SIM905  one word a line is longer
)
_LONGEST_STYLE: Final = 1_000  # characters
_STRUCK: Final = frozenset({"del", "s", "strike"})
_SCRIPTS: Final = {"sup": 1, "super": 1, "sub": -1}
_LINE_THROUGH: Final = re.compile(r"text-decoration(?:-line)?\s*:[^;]*\bline-through\b", re.IGNORECASE)
_ALIGNED: Final = re.compile(r"vertical-align\s*:\s*(sub|super)\b", re.IGNORECASE)
_LIST_STYLE: Final = re.compile(r"list-style(?:-type)?\s*:\s*([\w-]+)", re.IGNORECASE)
# Forms of numbers, by the types and styles of lists.
_FORMS: Final = {
    "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman", "decimal-leading-zero": "decimalZero",
    "lower-alpha": "lowerLetter", "lower-latin": "lowerLetter", "lower-roman": "lowerRoman",
    "upper-alpha": "upperLetter", "upper-latin": "upperLetter", "upper-roman": "upperRoman",
}  # fmt: skip
_INTEGER: Final = re.compile(r"\s*([+-]?[0-9]{1,9})(?![0-9])")


def spell_formatting(root: Any, *, strikes: bool = True) -> None:
    """Change the tree of a page so that its formatting is text. strikes: struck words as well."""
    # Inner elements first: those of a script or ruby become its text.
    for element in reversed(list(root.iter(etree.Element))):
        style = _style(element)
        aligned = _ALIGNED.search(style)
        script = _SCRIPTS.get(aligned[1].lower() if aligned else element.tag, 0)
        if element.tag == "ruby":
            _join_ruby(element)
        elif element.tag == "ol":
            _number(element, style)
        elif script and not _has_blocks(element):
            _set_text(element, scripted("".join(element.itertext()), script))
        if strikes and _is_struck(element) and not any(map(_is_struck, element.iterancestors())):
            _strike(element)


def _join_ruby(ruby: Any) -> None:
    readings = "".join("".join(each.itertext()) for each in ruby.iter("rt"))
    etree.strip_elements(ruby, "rt", "rp", "rtc", with_tail=False)
    _set_text(ruby, with_reading("".join("".join(ruby.itertext()).split()), "".join(readings.split())))


def _number(numbered: Any, style: str) -> None:
    """Write the numbers of a list before its items. A list that shows none becomes one of bullets."""
    form = _LIST_STYLE.search(style)
    kind = form[1].lower() if form else numbered.get("type", "")
    if kind == "none":
        numbered.tag = "ul"
        return
    items = [item for item in numbered if item.tag == "li"]
    step = -1 if "reversed" in numbered.attrib else 1
    number = _integer(numbered.get("start"), len(items) if step < 0 else 1)
    for item in items:
        number = _integer(item.get("value"), number)
        _put_before(item, f"{written(number, _FORMS.get(kind, 'decimal'))}. ")
        number += step


def _put_before(item: Any, label: str) -> None:
    """Write a label before the first text of an item, which may be in a paragraph."""
    while not (item.text or "").strip() and len(item) and item[0].tag in ("p", "div", "span"):
        item = item[0]
    item.text = label + (item.text or "").lstrip()


def _is_struck(element: Any) -> bool:
    return element.tag in _STRUCK or _LINE_THROUGH.search(_style(element)) is not None


def _style(element: Any) -> str:
    return (element.get("style") or "")[:_LONGEST_STYLE]


def _strike(element: Any) -> None:
    if not _has_blocks(element):
        _set_text(element, struck(" ".join(re.split(r"\s+", "".join(element.itertext())))))
        return
    for each in element.iter(etree.Element):
        each.text = struck(each.text or "")
        if each is not element:
            each.tail = struck(each.tail or "")


def _has_blocks(element: Any) -> bool:
    return any(each.tag in BLOCKS for each in element.iterdescendants())


def _set_text(element: Any, text: str) -> None:
    """Make a text the only content of an element, which has no meaning of its own any more."""
    tail = element.tail
    element.clear()
    element.tag, element.text, element.tail = "span", text, tail


def _integer(value: str | None, otherwise: int) -> int:
    number = _INTEGER.match(value or "")
    return int(number[1]) if number else otherwise


_UNSEEN: Final = frozenset(
    {"script", "style", "template", "noscript", "svg", "math", "iframe", "object", "head"}
)
_BEFORE: Final = {"li": "- ", **{f"h{level}": "#" * level + " " for level in range(1, 7)}}
_SPACES: Final = re.compile(r"[ \t\r\f\v\xa0]+")
_LINES: Final = re.compile(r"\s*\n\s*\n\s*")
_VERBATIM: Final = frozenset({"pre", "textarea"})
# White space of verbatim texts passes as characters that no text has, except around the text.
_VERBATIM_SPACES: Final = {" ": "\ufdd0", "\t": "\ufdd1", "\n": "\ufdd2"}
_KEPT: Final = str.maketrans(_VERBATIM_SPACES)
_RESTORED: Final = {ord(passed): space for space, passed in _VERBATIM_SPACES.items()}
_PASSED: Final = "".join(_VERBATIM_SPACES.values())


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
    lines = "\n".join(line.strip() for line in "".join(_pieces(root)).split("\n"))
    # Not by an expression: of a long run that text follows, it would try each end.
    trimmed = (
        line.lstrip(_VERBATIM_SPACES["\n"]).rstrip(_PASSED) for line in _LINES.sub("\n\n", lines).split("\n")
    )
    body = "\n".join(trimmed).translate(_RESTORED)
    return "\n\n".join(part for part in (" ".join(title.split()), body.strip("\n")) if part)


def _pieces(root: Any) -> list[str]:
    pieces: list[str] = []
    unseen = verbatim = 0
    tables = _Tables()
    for event, element in etree.iterwalk(root, events=("start", "end")):
        name = element.tag if isinstance(element.tag, str) else ""
        if event == "start":
            unseen += name in _UNSEEN
            verbatim += name in _VERBATIM
            if not unseen:
                if name in _TABLE_PARTS:
                    tables.enter(element, name, pieces)
                pieces.append(_opening(element, name) + _flat(element.text, is_verbatim=verbatim > 0))
            continue
        verbatim -= name in _VERBATIM
        if not unseen:
            if name in _TABLE_PARTS:
                tables.leave(name, pieces)
            pieces.append("\n" if name in BLOCKS else "")
        unseen -= name in _UNSEEN
        if not unseen:
            pieces.append(_flat(element.tail, is_verbatim=verbatim > 0))
    return pieces


_CELLS: Final = frozenset({"td", "th"})
_TABLE_PARTS: Final = _CELLS | {"table", "thead", "tbody", "tfoot", "tr"}
# Cells with these lay out a page: they keep their lines.
_LAYOUT: Final = ("table", "h1", "h2", "h3", "h4", "h5", "h6", "article", "section", "main", "nav")
# Columns that a cell can span: those beyond are not counted.
_MAX_SPANNED: Final = 100
_MAX_ROWS_SPANNED: Final = 65_534  # as in browsers


class _Columns:
    """The columns of a table, in which a cell spans columns, and rows below."""

    def __init__(self) -> None:
        self._row = self._column = self._last = 0
        self._free_from: list[int] = [0] * _MAX_SPANNED  # by column: the first row that no cell above spans

    def begin_row(self) -> None:
        self._row += 1
        self._column = self._last = 0

    def end_spans(self) -> None:
        """End the spans of rows, which reach no further than their group."""
        self._free_from = [0] * _MAX_SPANNED

    def advance(self, cell: Any) -> int:
        """Place a cell, and return the number of columns from the cell before, or from the first column."""
        while self._column < _MAX_SPANNED and self._free_from[self._column] > self._row:
            self._column += 1
        advanced, self._last = self._column - self._last, self._column
        below = self._row + min(_integer(cell.get("rowspan"), 1), _MAX_ROWS_SPANNED)
        end = min(self._column + max(_integer(cell.get("colspan"), 1), 1), _MAX_SPANNED)
        self._free_from[self._column : end] = [below] * (end - self._column)
        self._column = max(end, self._column + 1)
        return advanced


class _Tables:
    """The tables around an element, whose rows become one line each."""

    def __init__(self) -> None:
        self._columns = [_Columns()]
        # Of the cells around: the index of the first piece of a flat one.
        self._flat_cells: list[int | None] = []

    def enter(self, element: Any, name: str, pieces: list[str]) -> None:
        if name == "table":
            self._columns.append(_Columns())
        elif name == "tr":
            self._columns[-1].begin_row()
        elif name in ("thead", "tbody", "tfoot"):
            self._columns[-1].end_spans()
        elif name in _CELLS:
            pieces.append(" | " * self._columns[-1].advance(element))
            is_alone = element.getprevious() is None and element.getnext() is None
            is_flat = not is_alone and next(element.iter(*_LAYOUT), None) is None
            self._flat_cells.append(len(pieces) if is_flat else None)

    def leave(self, name: str, pieces: list[str]) -> None:
        if name == "table":
            self._columns.pop()
        elif name in _CELLS:
            start = self._flat_cells.pop()
            if start is not None:
                pieces[start:] = [" ".join("".join(pieces[start:]).split())]


def _opening(element: Any, name: str) -> str:
    parent = element.getparent()
    is_numbered = name == "li" and parent is not None and parent.tag == "ol"
    return ("\n" if name in BLOCKS else "") + ("" if is_numbered else _BEFORE.get(name, ""))


def _flat(text: str | None, *, is_verbatim: bool) -> str:
    """Reduce white space, and remove soft hyphens: searches do not find a word that contains one."""
    text = (text or "").replace("\xad", "")
    return text.translate(_KEPT) if is_verbatim else _SPACES.sub(" ", text.replace("\n", " "))
