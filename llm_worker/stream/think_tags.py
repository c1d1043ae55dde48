"""Separates the answer from reasoning between tags at its very beginning; elsewhere a tag is text. Pure.

Some models send only the closing tag, because their template has written the opening one: `is_untagged`.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

# Qwen, DeepSeek and most others; Claude-like; Gemma; Seed; Magistral.
TAGS: Final = {
    "<think>": "</think>",
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<seed:think>": "</seed:think>",
    "[THINK]": "[/THINK]",
}
CLOSE: Final = "</think>"
# A closing tag that is not quoted as code.
_CLOSING: Final = re.compile("|".join(rf"(?<!`){re.escape(tag)}(?!`)" for tag in TAGS.values()))
# At the end of a line, as templates write it; elsewhere a text may talk about the tag.
_CLOSING_LINE: Final = re.compile(rf"(?:{_CLOSING.pattern})[ \t]*(?:\n|\Z)")
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)", re.MULTILINE)


class Reasoning(NamedTuple):
    """A piece of reasoning, beside pieces of the answer, which are plain strings."""

    text: str


class ThinkSplitter:
    """Splits the text of one inference. Text that may be the beginning of a tag is held back until it is decided.

    is_untagged: the model omits the opening tag. Its text is held back until the closing one, or the end, decides.
    """

    def __init__(self, *, is_untagged: bool = False) -> None:
        self._state: Literal["beginning", "undecided", "thinking", "after", "answering"] = "beginning"
        self._is_untagged = is_untagged
        self._close = CLOSE
        self._held = ""
        self._has_thought = False

    def expect_tags(self) -> None:
        """Note that the model omits no opening tag: text that was held back for this reason is text."""
        self._is_untagged = False

    def feed(self, text: str) -> Iterable[str | Reasoning]:
        """Return the pieces that are decided by now; they must be consumed before the next call."""
        return (text,) if self._state == "answering" else self._split(text)

    def flush(self) -> Iterator[str | Reasoning]:
        """Yield the text that is still held back at the end of the stream."""
        held, self._held = self._held, ""
        if held and self._state != "after":
            yield Reasoning(held) if self._state == "thinking" else held

    def _split(self, text: str) -> Iterator[str | Reasoning]:
        self._held += text
        if self._state == "beginning":
            yield from self._begin()
        if self._state == "undecided" and (closing := _CLOSING.search(self._held)):
            self._state, self._close = "thinking", closing[0]
        if self._state == "undecided" and not self._is_untagged:
            self._state = "answering"
            yield self._take(len(self._held))
        if self._state == "thinking":
            yield from self._think()
        if self._state == "after":
            yield from self._answer()

    def _begin(self) -> Iterator[str | Reasoning]:
        start = self._held.lstrip()
        tag = next((tag for tag in TAGS if start.startswith(tag)), "")
        if tag:
            self._state, self._close, self._held = "thinking", TAGS[tag], start[len(tag) :]
        elif any(tag.startswith(start) for tag in TAGS):
            return
        elif self._is_untagged:
            self._state = "undecided"
        else:
            self._state = "answering"
            yield self._take(len(self._held))

    def _think(self) -> Iterator[str | Reasoning]:
        if not self._has_thought:
            self._held = self._held.lstrip("\n")  # the line break behind the tag is not reasoning
            self._has_thought = bool(self._held)
        end = self._held.find(self._close)
        safe = end if end >= 0 else len(self._held) - _possible_tag(self._held, self._close)
        if safe:
            yield Reasoning(self._take(safe))
        if end >= 0:
            self._take(len(self._close))
            self._state = "after"

    def _answer(self) -> Iterator[str | Reasoning]:
        """Begin the answer. The blank lines between reasoning and answer belong to neither."""
        if answer := self._held.lstrip():
            self._state, self._held = "answering", ""
            yield answer

    def _take(self, count: int) -> str:
        taken, self._held = self._held[:count], self._held[count:]
        return taken


def without_reasoning(text: str) -> str:
    """Return the answer of a whole text, even if the model omits the opening tag. All whole texts are split here."""
    splitter = ThinkSplitter(is_untagged=True)
    pieces = [*splitter.feed(text), *splitter.flush()]
    return "".join(piece for piece in pieces if isinstance(piece, str))


def split_untagged(text: str) -> tuple[str, str] | None:
    """Return the reasoning before a closing tag that was never opened, and the answer after it; None: no such tag."""
    if not any(tag in text for tag in TAGS.values()):  # a hundred times as fast as the pattern
        return None
    for closing in _CLOSING_LINE.finditer(text):
        before = text[: closing.start()]
        if any(tag in before for tag in TAGS):
            return None
        if len(_FENCE.findall(before)) % 2 == 0:
            return before.lstrip("\n"), text[closing.end() :].lstrip()
    return None


def _possible_tag(text: str, tag: str) -> int:
    """Count the characters at the end that may be the beginning of the tag."""
    return next((size for size in range(len(tag) - 1, 0, -1) if text.endswith(tag[:size])), 0)
