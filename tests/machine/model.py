"""An in-memory model of the packet log, with the guarantees that chat/log/stream.py documents. Pure."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from chat.log.cursor import Cursor, Header
from chat.log.stream import Appended, LogSlice


class Publication(NamedTuple):
    header: Header
    lines: list[bytes]


Subscriber = Callable[[Publication], None]


class ModelLog:
    """One run's log and channel. Appends are delivered to subscribers at once."""

    def __init__(self) -> None:
        self.subscribers: list[Subscriber] = []
        self.empty()

    def empty(self) -> None:
        self.position: Cursor | None = None
        self.entries: list[tuple[int, bytes]] = []

    def append(self, attempt: int, first: int, lines: Sequence[bytes], base: int) -> Appended:
        held = self.position
        if held and self.refuses(attempt, held.attempt):
            return Appended("stale", held.attempt)
        last = held.seq if held and held.attempt == attempt else base - 1
        if first > last + 1:
            return Appended("gap", last)
        first, lines = self.new(first, lines, last)
        if not lines:
            return Appended("held", last)
        if held is None or held.attempt != attempt:
            self.entries = []
        self.entries += enumerate(lines, start=first)
        self.position = Cursor(attempt, first + len(lines) - 1)
        for notify in self.subscribers:
            notify(Publication(Header(attempt, first, self.position.seq), list(lines)))
        return Appended("ok", self.position.seq)

    def refuses(self, attempt: int, held: int) -> bool:
        """Whether the attempt is rejected by the fencing token."""
        return attempt < held

    def new(self, first: int, lines: Sequence[bytes], last: int) -> tuple[int, Sequence[bytes]]:
        """The lines that the log does not have yet, so that a repeated append changes nothing."""
        skip = last + 1 - first
        return first + skip, lines[skip:]

    def read(self, after: Cursor | None) -> LogSlice:
        attempt, last = self.position or (0, 0)
        from_seq = after.seq + 1 if after and after.attempt == attempt else 0
        is_newer = after is None or attempt >= after.attempt
        return LogSlice(attempt, last, [entry for entry in self.entries if is_newer and entry[0] >= from_seq])

    def subscribe(self, notify: Subscriber) -> None:
        self.subscribers.append(notify)

    def unsubscribe(self, notify: Subscriber) -> None:
        if notify in self.subscribers:
            self.subscribers.remove(notify)

    def catch_up(self) -> None:
        """Do nothing: publications are delivered at once."""

    def close(self) -> None:
        self.subscribers.clear()
