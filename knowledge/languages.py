"""The language of a text, as far as full text search treats it differently: by its most frequent words. Pure."""

import re
import unicodedata
from enum import StrEnum
from typing import Final


class Language(StrEnum):
    """OTHER: words are found as they stand."""

    ENGLISH = "english"
    GERMAN = "german"
    OTHER = "simple"


# In both languages some of the commonest, none of which the other has.
_FREQUENT: Final = {
    Language.ENGLISH: frozenset(
        "the of and to is that for it with as on by this are be or from at which have has not you we they".split()  # noqa: SIM905
    ),
    Language.GERMAN: frozenset(
        "der die und den von zu das mit sich des auf ist im dem nicht ein eine als auch es für aus wird sind oder wir".split()  # noqa: SIM905
    ),
}
# Of all words: fewer are names and loans in a text of another language.
_LEAST_SHARE: Final = 0.08
_WORD: Final = re.compile(r"[^\W\d_]+")


def detect_language(text: str) -> Language:
    words = [word.lower() for word in _WORD.findall(unicodedata.normalize("NFC", text))]
    counts = {language: sum(map(frequent.__contains__, words)) for language, frequent in _FREQUENT.items()}
    best = max(counts, key=lambda language: counts[language])
    return best if words and counts[best] >= _LEAST_SHARE * len(words) else Language.OTHER
