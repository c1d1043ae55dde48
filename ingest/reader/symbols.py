"""Characters of Word's symbol fonts (`w:sym`), each of which has its own codes. Pure."""

# ruff: noqa: RUF001  signs and Greek letters

from typing import Final

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
