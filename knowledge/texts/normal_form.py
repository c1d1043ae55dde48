"""The normal form in which texts are searched, whatever their spelling (decision 0106). Pure.

The functions of Postgres (knowledge/migrations/0001_version_0_2_0.py) and web/static/chat/state/normal_form.js do the
same; all pass tests/knowledge/texts/normal_forms.json.
"""

import re
import unicodedata
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
