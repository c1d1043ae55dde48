"""Excerpts around the words that a search has found, whose spelling in the text may differ. Pure."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import Final

from knowledge.texts.normal_form import WORD_START, normal_form

# Characters before the first word that is found, and of the whole excerpt.
_BEFORE: Final = 40
_MAX_CHARACTERS: Final = 160


def excerpt_of(text: str, words: Sequence[str]) -> str:
    """Cut the text around the first word that begins with one of `words`, else its beginning. words: in normal form."""
    text = unicodedata.normalize("NFC", text)
    forms = [character.lower() if character.isascii() else normal_form(character) for character in text]
    starts = list(accumulate(map(len, forms), initial=0))
    either = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    found = re.search(f"{WORD_START}(?:{either})", "".join(forms))
    at = bisect_right(starts, found.start()) - 1 if found else 0
    first = max(at - _BEFORE, 0)
    excerpt = text[first : first + _MAX_CHARACTERS]
    before, after = excerpt[: at - first], excerpt[at - first :]
    if first:
        before = before.partition(" ")[2] or before
    if first + _MAX_CHARACTERS < len(text):
        after = after.rpartition(" ")[0] or after
    return " ".join((before + after).split())
