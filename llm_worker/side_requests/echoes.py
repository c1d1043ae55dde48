"""The output check of restricted runs: whether a text repeats words or numbers of document texts. Pure.

Both sides are compared without case, punctuation, white space, accents and invisible characters, so that an echo that
is spaced, joined or typeset in another way is found too. Words of the question are no exception, and are checked in the
same way: a question that lists every candidate would be told which one the documents contain (decision 0115).
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

# As many words in a row are an echo.
WORDS: Final = 8
# The most groups of a number that is written in groups: 1,234,567 or 49 30 123 45 67.
MOST_GROUPS: Final = 8
# The most characters between two groups of one number: "1,234", "1 234", "12 / 34".
_MOST_SEPARATORS: Final = 3

# One character of a script without spaces between words counts as a word: Thai to Myanmar, Khmer, kana, Han.
_UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
_WORD: Final = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+")
_DIGITS: Final = re.compile(r"[0-9]+")


class EchoCheck:
    """Finds echoes of texts that a secondary model was shown."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Index the texts, in the order in which they were shown: a row of words may continue in the next text."""
        plain = [_plain(text) for text in texts]
        words = [word for text in plain for word in _WORD.findall(text)]
        self._rows = {"".join(words[at : at + WORDS]) for at in range(len(words) - WORDS + 1)}
        self._numbers = {number for text in plain for number in _numbers(text)}

    def finds(self, texts: Sequence[str]) -> bool:
        """Return whether one of these texts, or several together in this order, repeats words or a number."""
        plain = [_plain(text) for text in texts]
        if any(number in self._numbers for text in plain for number in _numbers(text)):
            return True
        joined = "".join(word for text in plain for word in _WORD.findall(text))
        return any(row in joined for row in self._rows)


def _plain(text: str) -> str:
    """Return the text decomposed, in lower case, with ASCII digits, without accents and invisible characters."""
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    if decomposed.isascii():
        return decomposed
    return "".join(_plain_character(character) for character in decomposed)


def _plain_character(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Mn", "Me", "Cf"):
        return ""
    return str(unicodedata.decimal(character)) if category == "Nd" else character


def _numbers(text: str) -> Iterator[str]:
    """Yield every number of a plain text, and every number that its groups of digits may form together."""
    groups = [(match[0], *match.span()) for match in _DIGITS.finditer(text)]
    for first, (digits, _, _) in enumerate(groups):
        yield _value(digits)
        joined = digits
        for before, (group, start, _) in pairwise(groups[first : first + MOST_GROUPS]):
            if not _separates(text[before[2] : start]):
                break
            yield _value(joined + group.rstrip("0"))  # 3.50 is 3.5
            joined += group
            yield _value(joined)


def _value(digits: str) -> str:
    """Strip leading zeros: 007 is 7."""
    return digits.lstrip("0") or "0"


def _separates(between: str) -> bool:
    return len(between) <= _MOST_SEPARATORS and not any(map(str.isalnum, between))
