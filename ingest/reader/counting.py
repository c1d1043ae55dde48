"""Numbers of lists as Office writes them. Pure."""

import re
from collections.abc import Callable
from typing import Final

_ROMAN: Final = (
    (1000, "m"), (900, "cm"), (500, "d"), (400, "cd"), (100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"),
    (4, "iv"), (1, "i"),
)  # fmt: skip
_MAX_ROMAN: Final = 3_999
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
# Beyond this, a letter would be repeated more than thirty times.
_MAX_LETTERS: Final = 30 * len(_LETTERS)
_CHINESE: Final = "〇一二三四五六七八九"
_CIRCLES: Final = range(1, 21)
# Types of PowerPoint: the digits, and the punctuation around them.
_TYPE: Final = re.compile(
    r"(arabic(?:Db)?|alphaLc|alphaUc|romanLc|romanUc|circleNum\w*?|ea1\w*?)(Period|ParenR|ParenBoth|Plain|Minus)"
)
_AROUND: Final = {"Period": "{}.", "ParenR": "{})", "ParenBoth": "({})", "Plain": "{}", "Minus": "{} -"}
_DIGITS: Final = {
    "alphaLc": "lowerLetter", "alphaUc": "upperLetter", "romanLc": "lowerRoman", "romanUc": "upperRoman",
    "circleNumDb": "decimalEnclosedCircle", "circleNumWdBlack": "decimalEnclosedCircle", "circleNumWdWhite": "decimalEnclosedCircle",
    "ea1Chs": "chineseCounting", "ea1Cht": "chineseCounting", "ea1JpnKor": "chineseCounting", "ea1JpnChs": "chineseCounting",
}  # fmt: skip


def written(number: int, form: str) -> str:
    """Format a number. `form`: a `numFmt` of Word; unknown forms are decimal."""
    return _FORMS.get(form, str)(number)


def written_on_slide(number: int, form: str) -> str:
    """Format a number with its punctuation. `form`: the type of `buAutoNum`."""
    found = _TYPE.fullmatch(form)
    if not found:
        return f"{number}."
    return _AROUND[found[2]].format(written(number, _DIGITS.get(found[1], "decimal")))


def _letters(number: int) -> str:
    """Format a number as letters: a to z, aa, bb and so on."""
    if not 0 < number <= _MAX_LETTERS:
        return str(number)
    repeats, letter = divmod(number - 1, len(_LETTERS))
    return _LETTERS[letter] * (repeats + 1)


def _roman(number: int) -> str:
    if not 0 < number <= _MAX_ROMAN:
        return str(number)
    text = ""
    for value, letters in _ROMAN:
        text += letters * (number // value)
        number %= value
    return text


def _chinese(number: int) -> str:
    if not 0 < number < 100:
        return str(number)
    tens, ones = divmod(number, 10)
    return ("" if tens < 2 else _CHINESE[tens]) + ("十" if tens else "") + (_CHINESE[ones] if ones else "")


def _circle(number: int) -> str:
    return chr(0x2460 + number - 1) if number in _CIRCLES else str(number)


def _ordinal(number: int) -> str:
    is_teen = number // 10 % 10 == 1
    return f"{number}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


_FORMS: Final[dict[str, Callable[[int], str]]] = {
    "decimalZero": lambda number: f"{number:02}",
    "lowerLetter": _letters,
    "upperLetter": lambda number: _letters(number).upper(),
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "ordinal": _ordinal,
    "decimalEnclosedCircle": _circle,
    "chineseCounting": _chinese,
    "chineseCountingThousand": _chinese,
    "japaneseCounting": _chinese,
    "taiwaneseCounting": _chinese,
    "taiwaneseCountingThousand": _chinese,
    "none": lambda _: "",
}
