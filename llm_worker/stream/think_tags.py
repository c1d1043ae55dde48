"""Thinking written into the answer: `<think>…</think>` at its very beginning is reasoning, anywhere else text. Pure."""

from collections.abc import Iterator
from typing import Final, Literal

Kind = Literal["reasoning", "text"]
OPEN: Final = "<think>"
CLOSE: Final = "</think>"


class ThinkSplitter:
    """For one inference. A possible beginning of a tag is held back until it is one, or is not."""

    def __init__(self) -> None:
        self._state: Literal["beginning", "thinking", "after", "answering"] = "beginning"
        self._held = ""
        self._has_thought = False

    def feed(self, text: str) -> Iterator[tuple[Kind, str]]:
        if self._state == "answering":
            yield "text", text
            return
        self._held += text
        if self._state == "beginning":
            yield from self._begin()
        if self._state == "thinking":
            yield from self._think()
        if self._state == "after":
            yield from self._answer()

    def flush(self) -> Iterator[tuple[Kind, str]]:
        """What is held back when the stream ends."""
        held, self._held = self._held, ""
        if held and self._state != "after":
            yield ("reasoning" if self._state == "thinking" else "text"), held

    def _begin(self) -> Iterator[tuple[Kind, str]]:
        start = self._held.lstrip()
        if start.startswith(OPEN):
            self._state, self._held = "thinking", start[len(OPEN) :]
        elif not OPEN.startswith(start):
            self._state = "answering"
            yield "text", self._take(len(self._held))

    def _think(self) -> Iterator[tuple[Kind, str]]:
        if not self._has_thought:
            self._held = self._held.lstrip("\n")  # the line of the tag is no thought
            self._has_thought = bool(self._held)
        end = self._held.find(CLOSE)
        safe = end if end >= 0 else len(self._held) - _possible_tag(self._held)
        if safe:
            yield "reasoning", self._take(safe)
        if end >= 0:
            self._take(len(CLOSE))
            self._state = "after"

    def _answer(self) -> Iterator[tuple[Kind, str]]:
        """The blank lines between thinking and answer belong to neither."""
        if answer := self._held.lstrip():
            self._state, self._held = "answering", ""
            yield "text", answer

    def _take(self, count: int) -> str:
        taken, self._held = self._held[:count], self._held[count:]
        return taken


def _possible_tag(text: str) -> int:
    """How many characters at the end may be the beginning of CLOSE."""
    return next((size for size in range(len(CLOSE) - 1, 0, -1) if text.endswith(CLOSE[:size])), 0)
