"""The packet log as its append script promises it, in memory. Pure; chat/log/stream.py has the promises."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from chat.log.cursor import Cursor, Header
from chat.log.stream import Appended, LogSlice


class Publication(NamedTuple):
    header: Header
    lines: list[bytes]


Hear = Callable[[Publication], None]


class ModelLog:
    """One run's log and channel. What is appended is told to those who have subscribed, at once."""

    def __init__(self) -> None:
        self.subscribers: list[Hear] = []
        self.empty()

    def empty(self) -> None:
        self.position: Cursor | None = None
        self.entries: list[tuple[int, bytes]] = []

    def append(self, attempt: int, first: int, lines: Sequence[bytes], base: int) -> Appended:
        held = self.position
        if held and self.refuses(attempt, held.attempt):
            return Appended("stale", held.seq)
        last = held.seq if held and held.attempt == attempt else base - 1
        if first > last + 1:
            return Appended("gap", last)
        first, lines = self.new(first, lines, last)
        if not lines:
            return Appended("ok", last)
        if held is None or held.attempt != attempt:
            self.entries = []
        self.entries += enumerate(lines, start=first)
        self.position = Cursor(attempt, first + len(lines) - 1)
        for hear in self.subscribers:
            hear(Publication(Header(attempt, first, self.position.seq), list(lines)))
        return Appended("ok", self.position.seq)

    def refuses(self, attempt: int, held: int) -> bool:
        """The fence."""
        return attempt < held

    def new(self, first: int, lines: Sequence[bytes], last: int) -> tuple[int, Sequence[bytes]]:
        """Without what the log has already, so that a repeat changes nothing."""
        skip = last + 1 - first
        return first + skip, lines[skip:]

    def read(self, after: Cursor | None) -> LogSlice:
        attempt, last = self.position or (0, 0)
        from_seq = after.seq + 1 if after and after.attempt == attempt else 0
        is_newer = after is None or attempt >= after.attempt
        return LogSlice(attempt, last, [entry for entry in self.entries if is_newer and entry[0] >= from_seq])

    def subscribe(self, hear: Hear) -> None:
        self.subscribers.append(hear)

    def unsubscribe(self, hear: Hear) -> None:
        if hear in self.subscribers:
            self.subscribers.remove(hear)

    def catch_up(self) -> None:
        """Nothing is ever under way."""

    def close(self) -> None:
        self.subscribers.clear()
