"""Tells code from prose in streamed Markdown: fences and code spans as in CommonMark. Pure.

In a stream the closing backtick is not known yet: an opening one makes code of everything up to the closing one or
the end of the paragraph. Indented code counts as prose.
"""

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

# A longer run of backticks or tildes is not held back.
LONGEST_RUN: Final = 200
# How much of a line's beginning is kept, to see whether a fence may start there.
LINE_BEGINNING: Final = 100

_PROSE = re.compile(r"\n|`+|~+|\\[^\n]|\\|[^\n`~\\]+")
_MARKS = re.compile(r"[\n`~\\]")
_CODE = re.compile(r"\n|`+|~+|[^\n`~]+")
_GOES_ON = re.compile(rf"[`~]{{1,{LONGEST_RUN}}}|\\")
_EMPTY_LINE = re.compile(r"[ \t>]*")
# Quotes and lists may hold fences.
_BEFORE_A_FENCE = re.compile(r"(?:[ \t>]|[-*+][ \t]|[0-9]{1,9}[.)][ \t])*")


class MarkdownPart(NamedTuple):
    text: str
    is_code: bool


class CodeSpans:
    """Splits one text into prose and code. Holds back only a run of marks or a backslash that may continue."""

    def __init__(self) -> None:
        # opening: in a line that may open a fence, after the run.  closing: in a line that may have closed one.
        self._mode: Literal["prose", "span", "opening", "fence", "closing"] = "prose"
        self._run = ""
        self._line = ""
        self._held = ""

    def feed(self, text: str) -> Iterator[MarkdownPart]:
        text, self._held = self._held + text, ""
        at = 0
        while at < len(text):
            token = self._token(text, at)
            if at + len(token) == len(text) and _GOES_ON.fullmatch(token):
                self._held = token
                return
            at += len(token)
            yield self._part(token)

    def is_prose(self, text: str) -> bool:
        """Return True if the text is plain prose, which then counts as fed: a fast path for most deltas."""
        if self._mode != "prose" or self._held or _MARKS.search(text):
            return False
        if len(self._line) < LINE_BEGINNING:
            self._line = (self._line + text)[:LINE_BEGINNING]
        return True

    def flush(self) -> Iterator[MarkdownPart]:
        """Yield the text that is still held back at the end."""
        if self._held:
            yield self._part(self._held)
        self._held = ""

    def _token(self, text: str, at: int) -> str:
        found = (_PROSE if self._mode == "prose" else _CODE).match(text, at)
        return found[0] if found else text[at]

    def _part(self, text: str) -> MarkdownPart:
        was_prose = self._mode == "prose"
        if text[0] == "\n":
            self._end_line()
        else:
            if text[0] in "`~":
                self._meet(text)
            elif self._mode == "closing" and text.strip():
                self._mode = "fence"
            self._line = (self._line + text)[:LINE_BEGINNING]
        return MarkdownPart(text, is_code=not was_prose or self._mode != "prose")

    def _end_line(self) -> None:
        paragraph_ends = _EMPTY_LINE.fullmatch(self._line) is not None
        match self._mode:
            case "opening":
                self._mode = "fence"
            case "closing":
                self._mode = "prose"
            case "span" if paragraph_ends:
                self._mode = "prose"
        self._line = ""

    def _meet(self, run: str) -> None:
        """Change the mode at a run of backticks or tildes."""
        match self._mode:
            case "prose" | "span" if len(run) >= 3 and _BEFORE_A_FENCE.fullmatch(self._line):
                self._mode, self._run = "opening", run
            case "prose" if run[0] == "`":
                self._mode, self._run = "span", run
            case "span" if run == self._run:
                self._mode = "prose"
            case "opening" if run[0] == self._run[0] == "`":
                # Not a fence: an info string has no backticks.
                self._mode = "prose" if run == self._run else "span"
            case "fence" if run.startswith(self._run) and _EMPTY_LINE.fullmatch(self._line):
                self._mode = "closing"
            case "closing":
                self._mode = "fence"
