"""Reads Word documents: headers, the content in order, footers, notes, comments.

It reads the XML itself, because python-docx skips content controls, tracked insertions, text boxes, notes, nested
tables, formulas, numbers of lists and targets of links.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ingest.reader.formatting import PLAIN, Form, marked, with_reading
from ingest.reader.numbering import Numbering
from ingest.reader.office_xml import (
    FALLBACK,
    MATH,
    R,
    W,
    latex,
    named_if_empty,
    target_of_field,
    whole_number,
    with_target,
)
from ingest.reader.reading_outcome import ReadText
from ingest.reader.zip_archive import open_checked

# ruff: noqa: RUF001  signs and Greek letters


_GREEK: Final = dict(
    zip(
        map(ord, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
        "αβχδεφγηιϕκλμνοπθρστυϖωξψζΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ",
        strict=True,
    )
)
_SYMBOL: Final = _GREEK | {
    0xA3: "≤", 0xA5: "∞", 0xAB: "↔", 0xAC: "←", 0xAE: "→", 0xB0: "°", 0xB1: "±", 0xB3: "≥", 0xB4: "×", 0xB6: "∂", 0xB7: "•", 0xB8: "÷",
    0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xC5: "⊕", 0xC7: "∩", 0xC8: "∪", 0xCE: "∈", 0xD1: "∇", 0xD6: "√", 0xD7: "⋅", 0xDE: "⇒", 0xE5: "∑", 0xF2: "∫",
}  # fmt: skip
_WINGDINGS: Final = {
    0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6E: "■", 0x6F: "□", 0xA7: "▪", 0xA8: "◻", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE8: "➔", 0xF0: "⇨",
    0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_FONTS: Final = {"symbol": _SYMBOL, "wingdings": _WINGDINGS}
# The range of the characters of these fonts.
_PRIVATE: Final = range(0xF000, 0xF100)


def symbol(font: str, code: str) -> str:
    """Return the Unicode character for a hexadecimal code of a font; U+FFFD if there is none here."""
    try:
        number = int(code[:8], 16)
    except ValueError:
        return "\ufffd"
    known = _FONTS.get(font.lower(), {})
    place = number - _PRIVATE.start if number in _PRIVATE else number
    if place in known:
        return known[place]
    return "\ufffd" if number in _PRIVATE or not 0x20 <= number < 0xD800 else chr(number)


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
        cells = [""] * _columns(row, "trPr", "gridBefore")
        for cell in _inside(row, f"{W}tc"):
            text = " ".join(text for text, _ in self.blocks(cell))
            cells += [" ".join(text.split()), *[""] * (_columns(cell, "tcPr", "gridSpan") - 1)]
        return " | ".join(cells)


def _inside(element: Any, tag: str) -> Iterator[Any]:
    """Yield rows or cells, also those in content controls, without those of nested tables and deleted rows."""
    for child in element:
        if child.tag == tag:
            if child.find(f"{W}trPr/{W}del") is None:
                yield child
        elif child.tag in (f"{W}sdt", f"{W}sdtContent", f"{W}customXml"):
            yield from _inside(child, tag)


def _columns(element: Any, properties: str, name: str) -> int:
    """Return the number of columns that a property of a row or cell names; 0 without it."""
    number = element.find(f"{W}{properties}/{W}{name}")
    return 0 if number is None else whole_number(number.get(f"{W}val"), _MAX_SPAN)


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


# Elements without visible text: the old place of moved text, deleted text, properties, the older form of a drawing.
UNSEEN: Final = frozenset({f"{W}moveFrom", f"{W}del", f"{W}rPr", f"{W}pPr", FALLBACK})
_CHARACTERS: Final = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
_WRITTEN: Final[dict[str, Callable[[Any], str]]] = {
    f"{W}t": lambda element: element.text or "",
    f"{W}sym": lambda element: symbol(element.get(f"{W}font", ""), element.get(f"{W}char", "")),
    f"{W}footnoteReference": lambda element: f"[^{element.get(f'{W}id')}]",
    f"{W}endnoteReference": lambda element: f"[^e{element.get(f'{W}id')}]",
    f"{MATH}oMath": latex,
    **dict.fromkeys(
        _CHARACTERS,
        lambda element: "" if element.get(f"{W}type") in ("page", "column") else _CHARACTERS[element.tag],
    ),
}
# Marks of notes, which Word raises, are in brackets.
_OWN_FORM: Final = (f"{W}footnoteReference", f"{W}endnoteReference", f"{MATH}oMath")
# Methods of ParagraphText.
_SPECIAL: Final = {
    f"{W}hyperlink": "_add_link",
    f"{W}fldSimple": "_add_simple_field",
    f"{W}fldChar": "_pass_field_mark",
    f"{W}instrText": "_instruct",
    f"{W}txbxContent": "_put_aside",
    f"{W}r": "_add_run",
    f"{W}ruby": "_add_ruby",
}
_SCRIPTS: Final = {"superscript": 1, "subscript": -1}
_OFF: Final = ("0", "false", "off", "none")


def _form(properties: Any) -> Form:
    """Return the form of a run with these properties."""
    if properties is None:
        return PLAIN
    script = properties.find(f"{W}vertAlign")
    struck = (properties.find(f"{W}{name}") for name in ("strike", "dstrike"))
    return Form(
        0 if script is None else _SCRIPTS.get(script.get(f"{W}val", ""), 0),
        any(each is not None and each.get(f"{W}val", "1") not in _OFF for each in struck),
    )


class _Field:
    """A field, whose instruction stands before its result, both in runs of their own.

    begin: index of the first of the pieces in the instruction, which are results of fields in it, and are not shown.
    """

    def __init__(self, begin: int) -> None:
        self.begin = begin
        self.instruction: list[str] = []
        self.start: int | None = None  # index of the result among the pieces


class ParagraphText:
    """The text of a paragraph. boxes: text boxes in the paragraph, whose text is separate."""

    def __init__(self, paragraph: Any, targets: Mapping[str, str]) -> None:
        """Read the paragraph. `targets`: of links, by the ids of relationships."""
        self.boxes: list[Any] = []
        self._targets = targets
        self._pieces: list[tuple[str, Form]] = []
        self._form = PLAIN
        self._fields: list[_Field] = []
        self._add_inside(paragraph)
        self.text = marked(self._pieces).strip()

    def _add_inside(self, element: Any) -> None:
        for child in element:
            tag = child.tag
            if tag in _WRITTEN:
                self._pieces.append((_WRITTEN[tag](child), PLAIN if tag in _OWN_FORM else self._form))
            elif tag in _SPECIAL:
                getattr(self, _SPECIAL[tag])(child)
            elif tag not in UNSEEN:
                self._add_inside(child)

    def _add_run(self, run: Any) -> None:
        before, self._form = self._form, _form(run.find(f"{W}rPr"))
        self._add_inside(run)
        self._form = before

    def _add_ruby(self, ruby: Any) -> None:
        start = len(self._pieces)
        texts = []
        for name in ("rubyBase", "rt"):
            for part in ruby.iterfind(f"{W}{name}"):
                self._add_inside(part)
            texts.append(marked(self._pieces[start:]))
            del self._pieces[start:]
        self._pieces.append((with_reading(*texts), self._form))

    def _add_link(self, element: Any) -> None:
        target = self._targets.get(element.get(f"{R}id", ""), "")
        anchor = element.get(f"{W}anchor")
        self._add_linked(element, f"{target}#{anchor}" if target and anchor else target)

    def _add_simple_field(self, element: Any) -> None:
        self._add_linked(element, target_of_field(element.get(f"{W}instr", "")))

    def _add_linked(self, element: Any, target: str) -> None:
        start = len(self._pieces)
        self._add_inside(element)
        self._link(start, target)

    def _link(self, start: int, target: str) -> None:
        if target:
            self._pieces[start:] = [(with_target(marked(self._pieces[start:]), target), PLAIN)]

    def _pass_field_mark(self, element: Any) -> None:
        kind = element.get(f"{W}fldCharType")
        if kind == "begin":
            self._fields.append(_Field(len(self._pieces)))
        elif kind == "separate" and self._fields:
            field = self._fields[-1]
            del self._pieces[field.begin :]
            field.start = field.begin
        elif kind == "end" and self._fields:
            field = self._fields.pop()
            if field.start is None:
                del self._pieces[field.begin :]
            else:
                self._link(field.start, target_of_field("".join(field.instruction)))

    def _instruct(self, element: Any) -> None:
        if self._fields:
            self._fields[-1].instruction.append(element.text or "")

    def _put_aside(self, element: Any) -> None:
        self.boxes.append(element)
