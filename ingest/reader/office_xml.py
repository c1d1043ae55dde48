"""What the readers of Office documents share: XML namespaces (ECMA-376), numbers, links as Markdown, formulas as LaTeX."""

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Final

from ingest.reader.reading_outcome import ReadText

W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
P: Final = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
# For texts, tables and graphics of slides, and graphics of Word.
A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
CHART: Final = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
PICTURE: Final = "{http://schemas.openxmlformats.org/drawingml/2006/picture}"
MATH: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# For ids of relationships of the part.
R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
ALTERNATIVES: Final = f"{_MC}AlternateContent"
CHOICE: Final = f"{_MC}Choice"
# The form of a drawing for programs that do not support the newer form.
FALLBACK: Final = f"{_MC}Fallback"
# A number with more digits is read as 0.
_MAX_DIGITS: Final = 9


def whole_number(value: str | None, most: int) -> int:
    """Parse a whole number, `most` at most; 0 if it is missing, not a number, or has ten digits or more."""
    given = value or "0"
    is_number = given.isascii() and given.isdecimal() and len(given) <= _MAX_DIGITS
    return min(int(given), most) if is_number else 0


# External targets: neither places in the document nor files of its author.
_LEADS_OUT: Final = re.compile(r"(?:https?|ftp)://\S|(?:mailto|tel):\S", re.IGNORECASE)
_MAX_TARGET: Final = 2_000
_UNSAFE: Final = re.compile(r"[\s()<>]")
_INSTRUCTION: Final = re.compile(r'\s*HYPERLINK\s+"([^"]+)"', re.IGNORECASE)
_FORMULA: Final = re.compile(r'=\s*HYPERLINK\(\s*"([^"]+)"', re.IGNORECASE)


def with_target(text: str, target: str) -> str:
    """Return the text as a Markdown link, or alone if it already is the target, or if the target is not external."""
    target = target.strip()
    if not _LEADS_OUT.match(target) or len(target) > _MAX_TARGET:
        return text
    words = text.strip()
    if not words or words in (target, target.removeprefix("mailto:"), target.rstrip("/")):
        return text
    start = text.index(words)
    safe = _UNSAFE.sub(lambda match: f"%{ord(match[0]):02X}", target)
    return f"{text[:start]}[{words}]({safe}){text[start + len(words) :]}"


def target_of_field(instruction: str) -> str:
    """Return the target of a field of Word; empty if the field is not a link."""
    match = _INSTRUCTION.match(instruction)
    return match[1] if match else ""


def target_of_formula(formula: str) -> str:
    """Return the target of a formula of Excel; empty if the formula is not a link."""
    match = _FORMULA.match(formula)
    return match[1] if match else ""


_VML_PICTURE: Final = "{urn:schemas-microsoft-com:vml}imagedata"
_GRAPHIC: Final = f"{A}graphicData"
_OBJECT: Final = "{urn:schemas-microsoft-com:office:office}OLEObject"
_GRAPHICS: Final = {"diagram": "diagrams", "chart": "charts", "ole": "embedded objects"}
_NAMES: Final = {
    f"{PICTURE}pic": "pictures",
    f"{P}pic": "pictures",
    _VML_PICTURE: "pictures",
    _OBJECT: "embedded objects",
}


def named_if_empty(text: str, roots: Iterable[Any]) -> ReadText:
    """Return the text, or if it is empty, a note with the numbers of unread objects in `roots` (XML elements)."""
    if text.strip():
        return ReadText(text)
    counts: Counter[str] = Counter()
    for root in roots:
        for element in root.iter(*_NAMES, _GRAPHIC):
            name = _NAMES.get(element.tag) or _GRAPHICS.get(element.get("uri", "").rpartition("/")[2])
            if name:
                counts[name] += 1
    counted = ", ".join(f"{name} ({count})" for name, count in sorted(counts.items()))
    note = f"; it shows what is not read: {counted}" if counted else ""
    return ReadText("", [f"[Nothing of this document follows: it has no text{note}]"])


def latex(element: Any) -> str:
    """Convert an oMath, or an element within one, to LaTeX."""
    tag = str(element.tag)
    if tag in (f"{MATH}t", f"{W}t"):
        return element.text or ""
    if not tag.startswith(MATH):
        return _inside(element)
    name = tag.removeprefix(MATH)
    if name.endswith("Pr"):
        return ""
    return _FORMS.get(name, _inside)(element)


def _inside(element: Any) -> str:
    return "".join(latex(child) for child in element if isinstance(child.tag, str))


def _part(element: Any, name: str) -> str:
    part = element.find(f"{MATH}{name}")
    return "" if part is None else latex(part)


def _character(element: Any, name: str, otherwise: str) -> str:
    """Return a character property, or `otherwise`: Office omits properties that have the default."""
    found = element.find(f"{MATH}{element.tag.removeprefix(MATH)}Pr/{MATH}{name}")
    return otherwise if found is None else found.get(f"{MATH}val", "")


def _scripts(element: Any, base: str) -> str:
    below, above = _part(element, "sub"), _part(element, "sup")
    return base + (f"_{{{below}}}" if below else "") + (f"^{{{above}}}" if above else "")


def _fraction(element: Any) -> str:
    return f"\\frac{{{_part(element, 'num')}}}{{{_part(element, 'den')}}}"


def _root(element: Any) -> str:
    degree = _part(element, "deg")
    return "\\sqrt" + (f"[{degree}]" if degree else "") + f"{{{_part(element, 'e')}}}"


def _sum(element: Any) -> str:
    return _scripts(element, _character(element, "chr", "∫")) + f" {_part(element, 'e')}"


def _delimited(element: Any) -> str:
    between = _character(element, "sepChr", "|")
    inside = between.join(latex(part) for part in element.iterfind(f"{MATH}e"))
    return _character(element, "begChr", "(") + inside + _character(element, "endChr", ")")


def _function(element: Any) -> str:
    return f"{_part(element, 'fName')} {_part(element, 'e')}"


def _limit(mark: str) -> Callable[[Any], str]:
    return lambda element: f"{_part(element, 'e')}{mark}{{{_part(element, 'lim')}}}"


def _rows(element: Any) -> str:
    rows = (
        " & ".join(latex(cell) for cell in row) if row.tag == f"{MATH}mr" else latex(row)
        for row in element
        if row.tag in (f"{MATH}mr", f"{MATH}e")
    )
    return "\\begin{matrix}" + " \\\\ ".join(rows) + "\\end{matrix}"


_FORMS: Final[dict[str, Callable[[Any], str]]] = {
    "sSup": lambda element: _scripts(element, _part(element, "e")),
    "sSub": lambda element: _scripts(element, _part(element, "e")),
    "sSubSup": lambda element: _scripts(element, _part(element, "e")),
    "sPre": lambda element: _scripts(element, "{}") + _part(element, "e"),
    "f": _fraction,
    "rad": _root,
    "nary": _sum,
    "d": _delimited,
    "func": _function,
    "limLow": _limit("_"),
    "limUpp": _limit("^"),
    "m": _rows,
    "eqArr": _rows,
}
