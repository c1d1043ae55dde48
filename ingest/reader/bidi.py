"""Turns a line that is read from left to right into the order in which it is written. Pure.

This is UAX #9 backwards: https://www.unicode.org/reports/tr9/. Where several orders look the same, the one that people
write is chosen: Latin words stay together with the numbers beside them.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import Final

RTL_LETTER: Final = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
_LATIN_LETTER: Final = re.compile(r"[^\W\d_\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
# The types of characters, one letter each: L, E(uropean number), A(rabic number), R, a(rabic letter), S(eparator),
# C(ommon separator), T(erminator of numbers), W(hite space); everything else is neutral.
_TYPES: Final = {
    "L": "L",
    "EN": "E",
    "AN": "A",
    "R": "R",
    "AL": "a",
    "ES": "S",
    "CS": "C",
    "ET": "T",
    "WS": "W",
}
# A run of words from left to right, with the numbers beside them, in a line from right to left.
_LTR_RUN: Final = re.compile("[LE](?:[^RaA]*[LE])?")
# A run of words from right to left in a line from left to right. A number before it belongs to it if a mark stands at
# the words: `3 ,SDROW`.
_RTL_RUN: Final = re.compile("(?:(?<![EA])[EA]+W[^LRaW]*[^LRaWEA])?[Ra](?:[^L]*[Ra])?")
_NUMBER: Final = re.compile("(?:(?<!T)T+)?E+(?:[SC]E+)*T*|A+(?:CA+)*|L+")
_MIRRORED: Final = dict(zip("()[]{}<>«»", ")(][}{><»«", strict=True))
_PAIRS: Final = ("()", "[]", "{}")
_SENTENCE_END: Final = ".,:;!?؟،؛"


def is_rtl(line: str, page_is_rtl: bool) -> bool:
    """Return whether a line was written from right to left. `line`: its characters from left to right."""
    latin, rtl = len(_LATIN_LETTER.findall(line)), len(RTL_LETTER.findall(line))
    if not latin or not rtl:
        return bool(rtl)
    ends = (line[:1] in _SENTENCE_END, line[-1:] in _SENTENCE_END)
    if ends[0] != ends[1]:
        return ends[0]
    return rtl > latin or (page_is_rtl and 4 * rtl > latin)


def logical(clusters: Sequence[str], rtl: bool) -> str:
    """Return the text of a line. `clusters`: its characters from left to right, each with its marks."""
    types = "".join(_TYPES.get(unicodedata.bidirectional(cluster[0]), "N") for cluster in clusters)
    ordered = _from_right(clusters, types) if rtl else _from_left(clusters, types)
    return _balanced("".join(ordered))


def _from_left(clusters: Sequence[str], types: str) -> list[str]:
    ordered: list[str] = []
    end = 0
    for run in _RTL_RUN.finditer(types):
        ordered += clusters[end : run.start()]
        ordered += _from_right(clusters[run.start() : run.end()], run[0])
        end = run.end()
    return [*ordered, *clusters[end:]]


def _from_right(clusters: Sequence[str], types: str) -> list[str]:
    # Rule by rule on the reversed line, in which only words from left to right and numbers still run backwards.
    types = _LTR_RUN.sub(lambda run: "L" * len(run[0]) if "L" in run[0] else run[0], types)[::-1]
    # W2: behind an Arabic letter, numbers are Arabic.
    types = re.sub("a[^RLa]*", lambda run: run[0].replace("E", "A"), types)
    ordered: list[str] = []
    backwards = clusters[::-1]
    end = 0
    for run in _NUMBER.finditer(types):
        ordered += [_MIRRORED.get(cluster, cluster) for cluster in backwards[end : run.start()]]
        ordered += backwards[run.start() : run.end()][::-1]
        end = run.end()
    return [*ordered, *(_MIRRORED.get(cluster, cluster) for cluster in backwards[end:])]


def _balanced(text: str) -> str:
    """Turn brackets that pairs need the other way: files store those that are drawn, or those that were written."""
    for pair in _PAIRS:
        places = [place for place, character in enumerate(text) if character in pair]
        if len(places) % 2 == 0 and not _is_balanced(text, pair):
            characters = list(text)
            for number, place in enumerate(places):
                characters[place] = pair[number % 2]
            text = "".join(characters)
    return text


def _is_balanced(text: str, pair: str) -> bool:
    depth = 0
    for character in text:
        depth += (character == pair[0]) - (character == pair[1])
        if depth < 0:
            return False
    return depth == 0
