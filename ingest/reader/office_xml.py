"""What the readers of Office documents share: the namespaces of their XML (ECMA-376), and the numbers in its attributes. Pure."""

from typing import Final

W: Final = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
P: Final = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
# Texts, tables and graphics of slides; graphics of Word.
A: Final = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
CHART: Final = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
PICTURE: Final = "{http://schemas.openxmlformats.org/drawingml/2006/picture}"
MATH: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
# Of ids that name a relationship of the part.
R: Final = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"
_MC: Final = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
ALTERNATIVES: Final = f"{_MC}AlternateContent"
CHOICE: Final = f"{_MC}Choice"
# What programs show that do not know the newer form of a drawing.
FALLBACK: Final = f"{_MC}Fallback"
# Of a number that is read; more make another number of it, or none at all.
_MAX_DIGITS: Final = 9


def whole_number(value: str | None, most: int) -> int:
    """`most` if it is larger; 0 for what is missing, no number, or has ten digits and more."""
    given = value or "0"
    is_number = given.isascii() and given.isdecimal() and len(given) <= _MAX_DIGITS
    return min(int(given), most) if is_number else 0
