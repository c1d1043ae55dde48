"""A subscriber's cursor in a numbered log, and what to do with each publication that arrives. Pure.

Serves both a run's packets (attempt, seq) and a session's events (attempt 1, n).
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple


class Cursor(NamedTuple):
    """The latest entry that the subscriber has. Before the first entry: (0, 0)."""

    attempt: int
    seq: int


START = Cursor(0, 0)


class Action(Enum):
    """What a subscriber does with a publication."""

    FORWARD = auto()  # forward all lines
    TRIM = auto()  # forward all but the first `Decision.skip` lines, which were forwarded before
    DUPLICATE = auto()  # drop it: nothing in it is new
    GAP = auto()  # entries before it are missing: read them from the log
    RESET = auto()  # a newer attempt from its seq 1: send `reset`, then forward all lines
    REOPEN = auto()  # a newer attempt opened by a snapshot (seq 0), which replaces `reset`: forward all lines


class Header(NamedTuple):
    """The attempt of a publication, and its first and last seq, both included."""

    attempt: int
    first: int
    last: int


class Decision(NamedTuple):
    """The action to take. skip: how many of the first lines to leave out, with Action.TRIM."""

    action: Action
    skip: int = 0


@dataclass
class Position:
    """One subscriber's cursor in one log. Advances only past entries that were forwarded."""

    cursor: Cursor = START

    def take(self, header: Header) -> Decision:
        """Decide what to do with a publication and, unless it leaves a gap, advance past it."""
        decision = decide(self.cursor, header)
        if decision.action not in (Action.DUPLICATE, Action.GAP):
            self.cursor = Cursor(header.attempt, header.last)
        return decision


def decide(cursor: Cursor, header: Header) -> Decision:
    """Compare a publication with the cursor."""
    attempt, first, last = header
    if attempt < cursor.attempt:
        return Decision(Action.DUPLICATE)
    if attempt > cursor.attempt:
        return _newer_attempt(cursor, first)
    if first == cursor.seq + 1:
        return Decision(Action.FORWARD)
    if last <= cursor.seq:
        return Decision(Action.DUPLICATE)
    return Decision(Action.TRIM, cursor.seq + 1 - first) if first <= cursor.seq else Decision(Action.GAP)


def _newer_attempt(cursor: Cursor, first: int) -> Decision:
    if first == 0:
        return Decision(Action.REOPEN)
    if first > 1:
        return Decision(Action.GAP)
    # No snapshot opens this attempt: the producer publishes a snapshot (seq 0) together with seq 1.
    # At START nothing has been shown, so nothing has to be reset.
    return Decision(Action.FORWARD if cursor == START else Action.RESET)


def parse_header(payload: bytes, end: int) -> tuple[str, Header]:
    """Parse `<run> <attempt> <first> <last>`, the first `end` bytes of a publication. Session events have run `-`."""
    name, attempt, first, last = payload[:end].split(b" ")
    return name.decode(), Header(int(attempt), int(first), int(last))
