"""Reasoning that a model writes into its answer: `<think>…</think>` at the very beginning; elsewhere it is text. Pure."""

from collections.abc import Iterable, Iterator
from typing import Final, Literal, NamedTuple

OPEN: Final = "<think>"
CLOSE: Final = "</think>"


class Reasoning(NamedTuple):
    """A piece of reasoning, beside pieces of the answer, which are plain strings."""

    text: str


class ThinkSplitter:
    """For one inference. Holds back what may be the beginning of a tag until the next text decides."""

    def __init__(self) -> None:
        self._state: Literal["beginning", "thinking", "after", "answering"] = "beginning"
        self._held = ""
        self._has_thought = False

    def feed(self, text: str) -> Iterable[str | Reasoning]:
        """What is known by now; to be consumed before the next call."""
        return (text,) if self._state == "answering" else self._split(text)

    def flush(self) -> Iterator[str | Reasoning]:
        """What is still held back at the end of the stream."""
        held, self._held = self._held, ""
        if held and self._state != "after":
            yield Reasoning(held) if self._state == "thinking" else held

    def _split(self, text: str) -> Iterator[str | Reasoning]:
        self._held += text
        if self._state == "beginning":
            yield from self._begin()
        if self._state == "thinking":
            yield from self._think()
        if self._state == "after":
            yield from self._answer()

    def _begin(self) -> Iterator[str | Reasoning]:
        start = self._held.lstrip()
        if start.startswith(OPEN):
            self._state, self._held = "thinking", start[len(OPEN) :]
        elif not OPEN.startswith(start):
            self._state = "answering"
            yield self._take(len(self._held))

    def _think(self) -> Iterator[str | Reasoning]:
        if not self._has_thought:
            self._held = self._held.lstrip("\n")  # the line break behind the tag is not reasoning
            self._has_thought = bool(self._held)
        end = self._held.find(CLOSE)
        safe = end if end >= 0 else len(self._held) - _possible_tag(self._held)
        if safe:
            yield Reasoning(self._take(safe))
        if end >= 0:
            self._take(len(CLOSE))
            self._state = "after"

    def _answer(self) -> Iterator[str | Reasoning]:
        """The blank lines between thinking and answer belong to neither."""
        if answer := self._held.lstrip():
            self._state, self._held = "answering", ""
            yield answer

    def _take(self, count: int) -> str:
        taken, self._held = self._held[:count], self._held[count:]
        return taken


def without_reasoning(text: str) -> str:
    """The answer of a whole text."""
    splitter = ThinkSplitter()
    pieces = [*splitter.feed(text), *splitter.flush()]
    return "".join(piece for piece in pieces if isinstance(piece, str))


def _possible_tag(text: str) -> int:
    """How many characters at the end may be the beginning of CLOSE."""
    return next((size for size in range(len(CLOSE) - 1, 0, -1) if text.endswith(CLOSE[:size])), 0)
