"""Splits texts into passages that a search returns. Pure."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

# Some 400 tokens of prose.
PASSAGE_CHARACTERS: Final = 1_600
# Repeated from the passage before, so that a sentence at the border is found whole.
OVERLAP_CHARACTERS: Final = 200
# Where a passage may end, best first: before a heading, after a paragraph, a line, a sentence, a word.
_BORDERS: Final = (
    re.compile(r"\n(?=#{1,6} )"),
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"[.!?…\u3002\uff01\uff1f]\s+"),
    re.compile(r"\s+"),
)


class Passage(NamedTuple):
    """start: of the text, in characters."""

    start: int
    text: str


def split_passages(text: str) -> Iterator[Passage]:
    """In order, overlapping, without those that have no visible text."""
    start, length = 0, len(text)
    while start < length:
        end = _end(text, start)
        passage = text[start:end]
        if passage.strip():
            yield Passage(start, passage)
        if end >= length:
            return
        start = _next_start(text, start, end)


def _end(text: str, start: int) -> int:
    """At the best border in the second half of what a passage may hold; there may be none."""
    limit = start + PASSAGE_CHARACTERS
    if limit >= len(text):
        return len(text)
    for border in _BORDERS:
        ends = [found.end() for found in border.finditer(text, start + PASSAGE_CHARACTERS // 2, limit)]
        if ends:
            return ends[-1]
    return limit


def _next_start(text: str, start: int, end: int) -> int:
    """At a word within the overlap; after `start`, so that every passage goes on."""
    overlapping = max(start + 1, end - OVERLAP_CHARACTERS)
    word = re.compile(r"\s+").search(text, overlapping, end)
    return word.end() if word else end
