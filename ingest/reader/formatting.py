"""Writes formatting that carries meaning as characters: 10^6, CO₂, ~~struck~~, a base with its reading. Pure.

Search takes superscript digits for ordinary ones (decision 0106), and 10⁶ for 106; a subscript is no other number.
"""

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Final, NamedTuple

_LOWERED: Final = str.maketrans("0123456789+-=()\N{MINUS SIGN}", "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎₋")
_LOWERABLE: Final = re.compile("[0-9+=()\N{MINUS SIGN}-]+")
_ONE_TERM: Final = re.compile(r"[+\N{MINUS SIGN}-]?[\w.,]+[+\N{MINUS SIGN}-]?|[+\N{MINUS SIGN}-]")
# Marks of notes in brackets, signs that are always raised, and endings of ordinal numbers stand as they are.
_PLAIN: Final = re.compile(r"[\[(*†‡§®™©°ªº].*|st|nd|rd|th|e|er|ère|ème|a|o", re.DOTALL)


class Form(NamedTuple):
    """The form of a piece of text. script: 1 above the line, -1 below it."""

    script: int = 0
    is_struck: bool = False


PLAIN: Final = Form()


def marked(pieces: Iterable[tuple[str, Form]]) -> str:
    """Join the pieces of a line, with marks for their forms."""
    texts = []
    for is_struck, group in groupby(pieces, key=lambda piece: piece[1].is_struck):
        scripts = groupby(group, key=lambda piece: piece[1].script)
        text = "".join(scripted("".join(text for text, _ in same), script) for script, same in scripts)
        texts.append(struck(text) if is_struck else text)
    return "".join(texts)


def scripted(text: str, script: int) -> str:
    """Return a text above or below the line."""
    words = text.strip()
    if not script or not words or (script > 0 and _PLAIN.fullmatch(words)):
        return text
    if script < 0 and _LOWERABLE.fullmatch(words):
        return text.translate(_LOWERED)
    written = words if _ONE_TERM.fullmatch(words) else f"({words})"
    return text.replace(words, ("^" if script > 0 else "_") + written)


def struck(text: str) -> str:
    """Return a struck text, with marks around the words of each line."""
    return re.sub(r"(?m)^([^\S\n]*)(\S(?:.*\S)?)", r"\1~~\2~~", text)


def with_reading(base: str, reading: str) -> str:
    """Return the base of a ruby with its reading behind it."""
    return f"{base}({reading.strip()})" if base.strip() and reading.strip() else base or reading
