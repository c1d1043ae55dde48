"""Detects the language of a text by its most frequent words, as far as full-text search distinguishes it. Pure."""

import re
import unicodedata
from enum import StrEnum
from typing import Final


class Language(StrEnum):
    """Configurations of full-text search. OTHER: words are found as they stand, without stems."""

    ENGLISH = "english"
    GERMAN = "german"
    OTHER = "simple"


# Some of the most frequent words of each language; none of them occurs in the other.
_FREQUENT: Final = {
    Language.ENGLISH: frozenset(
        "the of and to is that for it with as on by this are be or from at which have has not you we they".split()  # noqa: SIM905
    ),
    Language.GERMAN: frozenset(
        "der die und den von zu das mit sich des auf ist im dem nicht ein eine als auch es für aus wird sind oder wir".split()  # noqa: SIM905
    ),
}
# Share of all words; a smaller one may come from names and loanwords in a text of another language.
_LEAST_SHARE: Final = 0.08
_WORD: Final = re.compile(r"[^\W\d_]+")


def detect_language(text: str) -> Language:
    words = [word.lower() for word in _WORD.findall(unicodedata.normalize("NFC", text))]
    counts = {language: sum(map(frequent.__contains__, words)) for language, frequent in _FREQUENT.items()}
    best = max(counts, key=lambda language: counts[language])
    return best if words and counts[best] >= _LEAST_SHARE * len(words) else Language.OTHER
