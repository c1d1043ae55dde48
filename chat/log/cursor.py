"""Where one subscriber stands in one numbered log, and what to do with what arrives. Pure.

The same for a run's packets (attempt, seq) and for a session's events (attempt 1, n).
"""

from dataclasses import dataclass
from enum import Enum, auto
from typing import NamedTuple


class Cursor(NamedTuple):
    """Everything up to and including this entry is known. Before the first entry: (0, 0)."""

    attempt: int
    seq: int


START = Cursor(0, 0)


class Action(Enum):
    FORWARD = auto()  # take all lines
    TRIM = auto()  # take all but the first `Decision.skip` lines, which were taken before
    DUPLICATE = auto()  # nothing new
    GAP = auto()  # entries are missing before these; heal from the log
    RESET = auto()  # a newer attempt from its seq 1: announce it, then take all lines
    REOPEN = auto()  # a newer attempt opened by a snapshot (seq 0), which announces itself: take all lines


class Header(NamedTuple):
    """The entries of one publication: attempt, and the first and the last seq, both included."""

    attempt: int
    first: int
    last: int


class Decision(NamedTuple):
    action: Action
    skip: int = 0


@dataclass
class Position:
    """One subscriber's place in one log. It moves only by what has been handed on."""

    cursor: Cursor = START

    def take(self, header: Header) -> Decision:
        """Decide about a publication and, unless it leaves a gap, move past it."""
        decision = decide(self.cursor, header)
        if decision.action not in (Action.DUPLICATE, Action.GAP):
            self.cursor = Cursor(header.attempt, header.last)
        return decision


def decide(cursor: Cursor, header: Header) -> Decision:
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
    # Certainly no snapshot opens it: one would have come with seq 1, in the same publication (producer.py).
    # Nothing was shown before a run's first attempt: there is nothing to forget.
    return Decision(Action.FORWARD if cursor == START else Action.RESET)


def parse_header(payload: bytes, end: int) -> tuple[str, Header]:
    """ "<run> <attempt> <first> <last>" in the first `end` bytes of a publication; run "-" for session events."""
    name, attempt, first, last = payload[:end].split(b" ")
    return name.decode(), Header(int(attempt), int(first), int(last))
