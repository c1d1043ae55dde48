"""The one spelling in which texts are searched, whatever way they are written (decision 0106). Pure.

The functions of Postgres (knowledge/migrations/0018_normal_words.py) and web/static/chat/state/normal_form.js do the same; all
pass tests/knowledge/normal_forms.json.
"""

import re
import unicodedata
from typing import Final

# Thai to Khmer, kana, and Chinese characters: no spaces between words, so every character is one, and every two.
UNSPACED: Final = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff"
)
# Words with particles on them: found as a whole, and by every two characters.
HANGUL: Final = "\uac00-\ud7a3"
# Where a word may begin: Latin words stand inside of others.
WORD_START: Final = rf"(?:(?<![^\W_])|(?<=[{UNSPACED}{HANGUL}])|(?=[{HANGUL}]))"
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_RUN: Final = re.compile(f"[{UNSPACED}]+|[{HANGUL}]+")


def normal_form(text: str) -> str:
    """NFKC and case fold: NFD, ligatures, full and half width, capitals, ß and ss are the same."""
    lower = unicodedata.normalize("NFKC", text).replace("İ", "i").lower()
    return lower.replace("ß", "ss").replace("\u03c2", "\u03c3")  # a final sigma


def is_unspaced(text: str) -> bool:
    return _UNSPACED.search(text) is not None


def pairs_of(form: str) -> list[str]:
    """Every two neighbouring characters of what is written without spaces, and the single ones that stand alone."""
    return [pair for run in _RUN.findall(form) if is_unspaced(run) for pair in _pairs(run)]


def query_words(form: str) -> str:
    """What to look for, by spaces: the pairs in the place of what is written without spaces; Hangul also as it stands."""
    return _RUN.sub(lambda run: f" {' '.join(_asked(run[0]))} ", form)


def _asked(run: str) -> list[str]:
    return _pairs(run) if is_unspaced(run) or len(run) <= 2 else [run, *_pairs(run)]


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]
