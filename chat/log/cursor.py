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


class Verdict(Enum):
    FORWARD = auto()  # take all lines
    CUT = auto()  # take all but the first `Step.skip` lines, which were taken before
    DUPLICATE = auto()  # nothing new
    GAP = auto()  # entries are missing before these; heal from the log
    RESET = auto()  # a newer attempt from its seq 1: announce it, then take all lines
    REOPEN = auto()  # a newer attempt opened by a snapshot (seq 0), which announces itself: take all lines


class Header(NamedTuple):
    """The entries of one publication: attempt, and the first and the last seq, both included."""

    attempt: int
    first: int
    last: int


class Step(NamedTuple):
    verdict: Verdict
    skip: int = 0


@dataclass
class Position:
    """One subscriber's place in one log. It moves only by what has been handed on."""

    cursor: Cursor = START

    def take(self, header: Header) -> Step:
        """Decide about a publication and, unless it leaves a gap, move past it."""
        step = judge(self.cursor, header)
        if step.verdict not in (Verdict.DUPLICATE, Verdict.GAP):
            self.cursor = Cursor(header.attempt, header.last)
        return step


def judge(cursor: Cursor, header: Header) -> Step:
    attempt, first, last = header
    if attempt < cursor.attempt:
        return Step(Verdict.DUPLICATE)
    if attempt > cursor.attempt:
        return _newer_attempt(cursor, first)
    if first == cursor.seq + 1:
        return Step(Verdict.FORWARD)
    if last <= cursor.seq:
        return Step(Verdict.DUPLICATE)
    return Step(Verdict.CUT, cursor.seq + 1 - first) if first <= cursor.seq else Step(Verdict.GAP)


def _newer_attempt(cursor: Cursor, first: int) -> Step:
    if first == 0:
        return Step(Verdict.REOPEN)
    if first > 1:
        return Step(Verdict.GAP)
    # Certainly no snapshot opens it: one would have come with seq 1, in the same publication (outlet.py).
    # Nothing was shown before a run's first attempt: there is nothing to forget.
    return Step(Verdict.FORWARD if cursor == START else Verdict.RESET)


def parse_header(payload: bytes, end: int) -> tuple[str, Header]:
    """ "<run> <attempt> <first> <last>" in the first `end` bytes of a publication; run "-" for session events."""
    name, attempt, first, last = payload[:end].split(b" ")
    return name.decode(), Header(int(attempt), int(first), int(last))
