"""Helpers for the readers of Office documents: XML namespaces (ECMA-376), and numbers in attributes. Pure."""

from typing import Final

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
