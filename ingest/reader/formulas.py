"""Converts formulas of Office documents (OMML) to LaTeX, on one line. An unknown element yields the text within it."""

from collections.abc import Callable
from typing import Any, Final

from ingest.reader.office_xml import MATH, W


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
