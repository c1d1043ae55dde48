"""An in-memory model of one run's row and message: claim, lease, fencing, end, sweep. Pure.

It models chat/models/run.py, chat/runs/completion.py and chat/sweeper/runs.py, which real.py puts to the same test.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from chat.protocol import wire as p
from chat.protocol.states import STOP_REASONS, TERMINAL, Status, sources
from tests.faults.history_data import Database
from tests.machine.model import ModelLog
from web.socket.session_snapshot import LogReplacement

NOON: Final = datetime(2026, 1, 1, 12, tzinfo=UTC)
MAX_FAILURES: Final = 3
SESSION, TURN, RUN, ANSWER = "session", "turn", "run", "answer"


@dataclass
class State:
    """The readable state of the row."""

    status: Status = Status.QUEUED
    attempt: int = 0
    last_seq: int | None = None
    announced: bool = False
    text: str = ""
    saved_seq: int = 0
    continuations: int = 0

    @property
    def has_ended(self) -> bool:
        return self.status in TERMINAL


class ModelRows:
    session, run = SESSION, RUN
    may_lose_the_log = True

    def __init__(self, log: ModelLog) -> None:
        self.log = log
        self.row = State()
        self.failures = 0
        self.lease_expired = False
        self.events = [_event(1, "turn_started")]

    @property
    def state(self) -> State:
        return self.row

    def claim(self) -> int | None:
        row = self.row
        if row.status != Status.QUEUED and not (row.status == Status.RUNNING and self.lease_expired):
            return None
        row.status, row.saved_seq, self.lease_expired = Status.RUNNING, 0, False
        row.attempt += 1
        return row.attempt

    def beat(self, attempt: int) -> Status | None:
        """Extend the lease; None if the attempt has lost it."""
        if attempt != self.row.attempt or self.row.status not in (Status.RUNNING, Status.STOPPING):
            return None
        self.lease_expired = False
        return self.row.status

    def expire(self) -> None:
        self.lease_expired = True

    def checkpoint(self, attempt: int, text: str, seq: int) -> bool:
        if attempt != self.row.attempt or self.row.status != Status.RUNNING:
            return False
        self.row.text, self.row.saved_seq = text, seq
        return True

    def commit_end(self, attempt: int, status: Status, text: str, last_seq: int) -> bool:
        if self.refuses(attempt) or self.row.status not in sources(status):
            return False
        self.row.status, self.row.text, self.row.last_seq = status, text, last_seq
        self.row.saved_seq = last_seq
        return True

    def refuses(self, attempt: int) -> bool:
        """Whether the attempt is rejected by the fencing token."""
        return attempt != self.row.attempt

    def announce(self) -> None:
        if self.row.has_ended and not self.row.announced:
            self.row.announced = True
            self.events.append(_event(len(self.events) + 1, "overall_stop"))

    def go_on(self) -> None:
        """Continue an answer: an attempt whose log is only the text so far, and the queue again.

        Every answer of this world is incomplete: cut at the limit, stopped, or lost with its worker too often.
        """
        row = self.row
        if not (row.announced and row.text):
            return
        row.status, row.attempt, row.continuations = Status.QUEUED, row.attempt + 1, row.continuations + 1
        row.last_seq, row.announced, row.saved_seq = None, False, 0
        self.lease_expired, self.failures = False, 0
        continued = {"run": RUN, "attempt": row.attempt}
        self.events.append(_event(len(self.events) + 1, "run_continued", **continued))
        self.log.append(row.attempt, 0, [self._snapshot(0)], 0)

    def stop(self) -> None:
        if self.row.status == Status.QUEUED:
            self._end_orphan(Status.STOPPED)
        elif self.row.status == Status.RUNNING:
            self.row.status = Status.STOPPING

    def sweep(self) -> None:
        if self.row.has_ended:
            if not self.row.announced:
                self._publish_end()
        elif self.lease_expired and self.row.status == Status.STOPPING:
            self._end_orphan(Status.STOPPED)
        elif self.lease_expired and self.row.status == Status.RUNNING:
            self.failures += 1
            if self.failures >= MAX_FAILURES:
                self._end_orphan(Status.FAILED)
            else:
                self.row.status = Status.QUEUED

    def load_replacement(self) -> LogReplacement | None:
        """What a client gets when the log does not hold what it lacks."""
        row = self.row
        if not row.has_ended:
            if not row.saved_seq:
                return None
            return LogReplacement(row.attempt, row.saved_seq, [self._snapshot(row.saved_seq)])
        assert row.last_seq is not None
        return LogReplacement(row.attempt, row.last_seq, self._ending())

    def rows(self) -> Database:
        row = self.row
        ended_at = NOON if row.has_ended else None
        announced_at = NOON if row.announced else None
        run = {
            "id": RUN, "turn_id": TURN, "message_id": ANSWER, "model": "model", "model_index": 0,
            "status": row.status, "attempt": row.attempt, "failures": self.failures, "last_seq": row.last_seq,
            "deadline": NOON + timedelta(minutes=15), "ended_at": ended_at, "announced_at": announced_at,
        }  # fmt: skip
        return Database(
            runs=[run],
            messages=[
                _message("root", "root", None),
                _message("question", "user", "root", "Why?"),
                _message(ANSWER, "assistant", "question", row.text),
            ],
            turns=[
                {"id": TURN, "session_id": SESSION, "user_message_id": "question", "ended_at": announced_at}
            ],
            events=[dict(event) for event in self.events],
        )

    def _end_orphan(self, status: Status) -> None:
        """End a run without its worker: take the next attempt and write its complete log."""
        self.row.attempt += 1
        if self.commit_end(self.row.attempt, status, self.row.text, 1):
            self._publish_end()

    def _publish_end(self) -> None:
        """Append what the log of the ended attempt lacks, without repeating anything."""
        row = self.row
        assert row.last_seq is not None
        lines = self._ending()
        first = row.last_seq - len(lines) + 1
        if self.log.append(row.attempt, first, lines, first).outcome == "gap":
            self.log.empty()
            self.log.append(row.attempt, first, lines, first)
        self.announce()

    def _ending(self) -> list[bytes]:
        row = self.row
        assert row.last_seq is not None
        stop = p.Stop(stop_reason=STOP_REASONS[row.status])
        packet = p.Packet(SESSION, RUN, row.attempt, row.last_seq, p.Placement(), stop)
        return [self._snapshot(row.last_seq - 1), p.encode(packet)]

    def _snapshot(self, seq: int) -> bytes:
        return p.encode(p.Snapshot(RUN, self.row.attempt, seq, {"text": self.row.text}))


def _event(n: int, kind: str, **payload: object) -> dict[str, object]:
    return {"session_id": SESSION, "n": n, "kind": kind, "payload": {"turn": TURN, **payload}}


def _message(pk: str, role: str, parent: str | None, text: str = "") -> dict[str, object]:
    return {"id": pk, "session_id": SESSION, "role": role, "parent_id": parent, "text": text, "reasoning": ""}
