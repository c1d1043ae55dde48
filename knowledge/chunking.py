"""Splits texts into the chunks that a search returns, whatever a text consists of. Pure."""

import logging
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, cast

logger = logging.getLogger(__name__)

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
_WHITE_SPACE: Final = re.compile(r"\s{2,}")
_PAGE_BREAK: Final = "\f"
_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")
# Of equal characters; longer ones separate no better.
_LONGEST_RUN: Final = 8
# Of the same length as white space, at which no text is split.
_FILLER: Final = "_"


class ChunkText(NamedTuple):
    """start: of the text, in characters."""

    start: int
    text: str


def split_chunks(text: str) -> Iterator[ChunkText]:
    """In order, overlapping, without those that have no visible text. Raises nothing: one text must not stop others.

    A chunk is of one page where form feeds part pages: who opens what was cited reads it on one page.
    """
    at = 0
    for page in text.split(_PAGE_BREAK):
        for start, part in _split_page(page):
            yield ChunkText(at + start, part)
        at += len(page) + len(_PAGE_BREAK)


def _split_page(text: str) -> Iterator[ChunkText]:
    before = 0
    for start, end in _places(text):
        visible = text[start:end].lstrip()
        if visible:
            start = end - len(visible)  # noqa: PLW2901
            began = _overlapping_start(text, before, start)
            yield ChunkText(began, text[began:end].rstrip())
            before = start


def _places(text: str) -> list[tuple[int, int]]:
    # Loaded by the processes that index.
    from semchunk.semchunk import chunk

    longest = CHUNK_CHARACTERS - OVERLAP_CHARACTERS
    try:
        _, found = chunk(_WHITE_SPACE.sub(_plain_run, text), longest, len, memoize=False, offsets=True)
    except Exception:
        logger.exception("a text of %s characters is split at fixed places", len(text))
        return [(start, min(start + longest, len(text))) for start in range(0, len(text), longest)]
    return cast("list[tuple[int, int]]", found)


def _plain_run(run: re.Match[str]) -> str:
    """A run of white space as one of a few of the same length. The splitter recurses once for each different one that it meets."""
    length = len(run[0])
    breaks = min(len(_LINE_BREAK.findall(run[0])), _LONGEST_RUN)
    blanks = min(length - breaks, _LONGEST_RUN)
    return "\n" * breaks + _FILLER * (length - breaks - blanks) + " " * blanks


def _overlapping_start(text: str, before: int, start: int) -> int:
    """Within the chunk before, which begins at `before`, and at a border; `start` if there is none."""
    least = max(before, start - OVERLAP_CHARACTERS)
    for border in _BORDERS:
        if found := border.search(text, least, start):
            return min(start, found.end())
    return start
