"""Splits texts of any content into the chunks that a search returns. Pure."""

import logging
import re
from collections.abc import Iterator
from typing import Final, NamedTuple, cast

logger = logging.getLogger(__name__)

# About 400 tokens of prose, including the overlap. In characters, because counting tokens would cost more than all
# other steps of indexing.
CHUNK_CHARACTERS: Final = 1_600
# Repeated from the previous chunk, so that a sentence at the border is found whole.
OVERLAP_CHARACTERS: Final = 200
# Where the repeated text may begin, best first: before a heading, after a paragraph, a line, a sentence, a word.
_BORDERS: Final = (
    re.compile(r"\n(?=#{1,6} )"),
    re.compile(r"\n\s*\n"),
    re.compile(r"\n"),
    # Chinese and Japanese have no white space behind a sentence.
    re.compile(r"[.!?…]\s+|[\u3002\uff01\uff1f]\s*"),
    re.compile(r"\s+"),
)
_WHITE_SPACE: Final = re.compile(r"\s{2,}")
_PAGE_BREAK: Final = "\f"
_LINE_BREAK: Final = re.compile(r"\r\n|\r|\n")
# The most equal characters in a row; a longer run separates no better.
_LONGEST_RUN: Final = 8
# Replaces white space one for one; no text is split at it.
_FILLER: Final = "_"


class ChunkText(NamedTuple):
    """The text of a chunk. start: its offset in the whole text, in characters."""

    start: int
    text: str


def split_chunks(text: str) -> Iterator[ChunkText]:
    """Split a text into overlapping chunks, in order, without chunks that have no visible text.

    Raises nothing, because one text must not stop others. Where form feeds separate pages, a chunk lies within one
    page: a reader who opens a citation finds it on one page.
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
    # Imported here, so that only processes that index load it.
    from semchunk.semchunk import chunk

    longest = CHUNK_CHARACTERS - OVERLAP_CHARACTERS
    try:
        _, found = chunk(_WHITE_SPACE.sub(_plain_run, text), longest, len, memoize=False, offsets=True)
    except Exception:
        logger.exception("a text of %s characters is split at fixed places", len(text))
        return [(start, min(start + longest, len(text))) for start in range(0, len(text), longest)]
    return cast("list[tuple[int, int]]", found)


def _plain_run(run: re.Match[str]) -> str:
    """Replace a run of white space by one of a few forms of the same length.
    The splitter recurses once for each different run of white space.
    """
    length = len(run[0])
    breaks = min(len(_LINE_BREAK.findall(run[0])), _LONGEST_RUN)
    blanks = min(length - breaks, _LONGEST_RUN)
    return "\n" * breaks + _FILLER * (length - breaks - blanks) + " " * blanks


def _overlapping_start(text: str, before: int, start: int) -> int:
    """Find where the overlap begins: at a border within the previous chunk, which begins at `before`.
    Returns `start` if there is no border.
    """
    least = max(before, start - OVERLAP_CHARACTERS)
    for border in _BORDERS:
        if found := border.search(text, least, start):
            return min(start, found.end())
    return start
