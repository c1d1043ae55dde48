"""The text of a shape on a slide: its paragraphs, with formulas, numbers of lists and targets of links."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, Final

from ingest.reader.counting import written_on_slide
from ingest.reader.formatting import PLAIN, Form, marked
from ingest.reader.formulas import latex
from ingest.reader.links import with_target
from ingest.reader.office_xml import FALLBACK, MATH, A, R, whole_number

_MAX_LEVEL: Final = 8
_MAX_START: Final = 32_767


def text_of(body: Any, targets: Mapping[str, str]) -> str:
    """Return the text of a shape, one line per paragraph. `targets`: of links, by the ids of relationships."""
    numbers = _Numbers(body.find(f"{A}lstStyle"))
    lines = []
    for paragraph in body.iterfind(f"{A}p"):
        text = _paragraph(paragraph, targets)
        lines.append(numbers.label(paragraph, has_text=bool(text.strip())) + text)
    return "\n".join(lines)


def _paragraph(paragraph: Any, targets: Mapping[str, str]) -> str:
    """Return the text of a paragraph. Adjacent runs with the same target are one link."""
    texts = []
    for target, pieces in groupby(_pieces(paragraph, targets), key=lambda piece: piece[1]):
        text = marked((text, form) for text, _, form in pieces)
        texts.append(with_target(text, target) if target else text)
    return "".join(texts)


def _pieces(element: Any, targets: Mapping[str, str]) -> Iterator[tuple[str, str, Form]]:
    """Yield the texts in an element, each with the target of its link, or empty, and its form."""
    for child in element:
        tag = child.tag
        if tag in (f"{A}r", f"{A}fld"):
            link = child.find(f"{A}rPr/{A}hlinkClick")
            target = "" if link is None else targets.get(link.get(f"{R}id", ""), "")
            yield child.findtext(f"{A}t") or "", target, _form(child.find(f"{A}rPr"))
        elif tag == f"{A}br":
            yield "\n", "", PLAIN
        elif tag == f"{MATH}oMath":
            yield latex(child), "", PLAIN
        elif tag != FALLBACK:
            yield from _pieces(child, targets)


def _form(properties: Any) -> Form:
    """Return the form of a run with these properties. The baseline is a shift in thousandths of a per cent."""
    if properties is None:
        return PLAIN
    baseline = properties.get("baseline", "0").rstrip("%")
    below = baseline.startswith("-")
    script = 0 if not baseline.strip("-0.") else -1 if below else 1
    return Form(script, properties.get("strike", "noStrike") != "noStrike")


class _Numbers:
    """Counts the numbered paragraphs of a shape, which are consecutive at each level."""

    def __init__(self, styles: Any) -> None:
        """Prepare to count. `styles`: the list styles of the shape; None: it has none of its own."""
        self._styles = styles
        self._counts: dict[int, tuple[str, int]] = {}

    def label(self, paragraph: Any, *, has_text: bool) -> str:
        properties = paragraph.find(f"{A}pPr")
        level = 0 if properties is None else whole_number(properties.get("lvl"), _MAX_LEVEL)
        form, start = self._form(properties, level)
        if not has_text:
            return ""
        for deeper in [each for each in self._counts if each > level]:
            del self._counts[deeper]
        if not form:
            self._counts.pop(level, None)
            return ""
        before = self._counts.get(level)
        number = before[1] + 1 if before and before[0] == f"{form}{start}" else start
        self._counts[level] = (f"{form}{start}", number)
        return f"{written_on_slide(number, form)} "

    def _form(self, properties: Any, level: int) -> tuple[str, int]:
        """Return the type of the numbers and the first number. The type is empty if there are no numbers."""
        of_level = None if self._styles is None else self._styles.find(f"{A}lvl{level + 1}pPr")
        for given in (properties, of_level):
            found = _first(given)
            if found is not None:
                numbered = found.tag == f"{A}buAutoNum"
                start = whole_number(found.get("startAt", "1"), _MAX_START)
                return (found.get("type", "") if numbered else ""), start
        return "", 1


def _first(properties: Any) -> Any:
    """Return the element that specifies the bullets or numbers; None if there is none."""
    kinds: Iterable[str] = (f"{A}buAutoNum", f"{A}buNone", f"{A}buChar", f"{A}buBlip")
    return next((one for one in (() if properties is None else properties) if one.tag in kinds), None)
