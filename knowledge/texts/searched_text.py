"""Texts as they are searched: their normal form, whatever the spelling, and their language (decision 0106). Pure.

The functions of Postgres (knowledge/migrations/0001_version_0_2_0.py) and the page (web/static/chat/conversation/search_marks.js)
do the same; all pass tests/knowledge/texts/normal_forms.json.
"""

import re
import unicodedata
from enum import StrEnum
from typing import Final

# Thai to Khmer, kana, and Chinese characters: without spaces between words, pairs of characters serve as words.
UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Words with attached particles: found as a whole, and by pairs of characters.
HANGUL: Final = "\uac00-\ud7a3"
# Where a word may begin: Latin words also stand inside text of other scripts.
WORD_START: Final = rf"(?:(?<![^\W_])|(?<=[{UNSPACED}{HANGUL}])|(?=[{HANGUL}]))"
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_RUN: Final = re.compile(f"[{UNSPACED}]+|[{HANGUL}]+")


def normal_form(text: str) -> str:
    """Normalise a text by NFKC and case: NFD, ligatures, full and half width, capitals, ß and ss become the same."""
    lower = unicodedata.normalize("NFKC", text).replace("İ", "i").lower()
    return lower.replace("ß", "ss").replace("\u03c2", "\u03c3")  # a final sigma


def is_unspaced(text: str) -> bool:
    return _UNSPACED.search(text) is not None


def pairs_of(form: str) -> list[str]:
    """Return all pairs of neighbouring characters in text without spaces, and the characters that stand alone."""
    return [pair for run in _RUN.findall(form) if is_unspaced(run) for pair in _pairs(run)]


def query_words(form: str) -> str:
    """Return the words of a query, separated by spaces.
    Text without spaces is replaced by its pairs; Hangul is also included as it stands.
    """
    return _RUN.sub(lambda run: f" {' '.join(_words_of_run(run[0]))} ", form)


def _words_of_run(run: str) -> list[str]:
    return _pairs(run) if is_unspaced(run) or len(run) <= 2 else [run, *_pairs(run)]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


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
