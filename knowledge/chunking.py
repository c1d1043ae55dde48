"""Splits texts into the chunks that a search returns. Pure."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, cast

# Some 400 tokens of prose, with the overlap. Characters, since counting tokens would cost more than the rest of the index.
CHUNK_CHARACTERS: Final = 1_600
# Repeated from the chunk before, so that a sentence at the border is found whole.
OVERLAP_CHARACTERS: Final = 200
# Where the repeated text may begin, best first: before a heading, after a paragraph, a line, a sentence, a word.
_BORDERS: Final = (
    re.compile(r"\n(?=#{1,6} )"),
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    re.compile(r"[.!?…\u3002\uff01\uff1f]\s+"),
    re.compile(r"\s+"),
)


class ChunkText(NamedTuple):
    """start: of the text, in characters."""

    start: int
    text: str


def split_chunks(text: str) -> Iterator[ChunkText]:
    """In order, overlapping, without those that have no visible text."""
    # Loaded by the processes that index.
    from semchunk.semchunk import chunk

    longest = CHUNK_CHARACTERS - OVERLAP_CHARACTERS
    _, found = chunk(text, longest, len, memoize=False, offsets=True)
    places = cast("list[tuple[int, int]]", found)
    before = 0
    for start, end in places:
        if text[start:end].strip():
            began = _overlapping_start(text, before, start)
            yield ChunkText(began, text[began:end])
            before = start


def _overlapping_start(text: str, before: int, start: int) -> int:
    """Within the chunk before, which begins at `before`, and at a border; `start` if there is none."""
    least = max(before, start - OVERLAP_CHARACTERS)
    for border in _BORDERS:
        if found := border.search(text, least, start):
            return min(start, found.end())
    return start
