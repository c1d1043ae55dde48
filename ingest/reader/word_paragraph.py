"""The text of one paragraph of Word, with its formulas, symbols, marks of notes, forms of text and targets of links."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ingest.reader.formatting import PLAIN, Form, marked, with_reading
from ingest.reader.formulas import latex
from ingest.reader.links import target_of_field, with_target
from ingest.reader.office_xml import FALLBACK, MATH, R, W
from ingest.reader.symbols import symbol

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
    """A field, whose instruction stands before its result, both in runs of their own."""

    def __init__(self) -> None:
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
            self._fields.append(_Field())
        elif kind == "separate" and self._fields:
            self._fields[-1].start = len(self._pieces)
        elif kind == "end" and self._fields:
            field = self._fields.pop()
            if field.start is not None:
                self._link(field.start, target_of_field("".join(field.instruction)))

    def _instruct(self, element: Any) -> None:
        if self._fields:
            self._fields[-1].instruction.append(element.text or "")

    def _put_aside(self, element: Any) -> None:
        self.boxes.append(element)
