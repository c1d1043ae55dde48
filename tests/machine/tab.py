"""A subscriber of one run whose steps other actions can interleave: ask, confirm, join, deliver, compare, cut.

It decides with chat/log/cursor.py and records the frames that a client would receive, for history.py.
"""

from collections import deque
from enum import Enum, auto
from typing import Any, Protocol

from msgspec import json

from chat.log.cursor import START, Action, Cursor, Decision, Header, Position, decide
from chat.log.stream import LogSlice
from tests.faults.history_data import SocketLog
from tests.machine.model import Publication, Subscriber
from tests.machine.model_rows import State
from web.socket.session_snapshot import LogReplacement


class Phase(Enum):
    AWAY = auto()
    ASKED = auto()  # SUBSCRIBE is sent
    CONFIRMED = auto()  # publications are buffered; the log has not been read
    LIVE = auto()


class Rows(Protocol):
    session: str
    run: str

    @property
    def state(self) -> State: ...

    def load_replacement(self) -> LogReplacement | None: ...


class Log(Protocol):
    @property
    def position(self) -> Cursor | None: ...

    def subscribe(self, notify: Subscriber) -> None: ...

    def unsubscribe(self, notify: Subscriber) -> None: ...

    def read(self, after: Cursor | None) -> LogSlice: ...


class Tab:
    """waits_for_confirmation: if False, a mutant that reads the log before the subscription is confirmed."""

    def __init__(self, log: Log, rows: Rows, *, waits_for_confirmation: bool = True) -> None:
        self.log = log
        self.rows = rows
        self.waits = waits_for_confirmation
        self.phase = Phase.AWAY
        self.sockets: list[SocketLog] = []
        self.position = Position()
        self.arriving: deque[Publication] = deque()
        self.has_joined = False
        self.has_stopped = False
        self.continuations = 0  # of which it was told
        # No `stop` of an earlier attempt is the end, even if a late producer writes it again.
        self.goes_on_in = 0
        self.lacks_something = False  # a publication was dropped: it may lag until the log is read again
        self.clock = 0.0

    # Connecting

    def ask(self) -> None:
        if self.phase is Phase.AWAY:
            cursor = self.position.cursor
            named = {} if cursor == START else {self.rows.run: {"attempt": cursor.attempt, "seq": cursor.seq}}
            self.sockets.append(SocketLog([], cursors=named))
            self._show(
                {"type": "subscribed", "session": self.rows.session, "n": 0, "runs": [{"run": self.rows.run}]}
            )
            self.phase, self.has_joined, self.lacks_something = Phase.ASKED, False, False

    def confirm(self) -> None:
        """Confirm the subscription: publications are buffered from now on."""
        if self.phase is Phase.ASKED:
            self.log.subscribe(self._receive)
            self.phase = Phase.LIVE if self.has_joined else Phase.CONFIRMED

    def join(self) -> None:
        """Read the log after the cursor, then receive publications."""
        ready = (Phase.CONFIRMED,) if self.waits else (Phase.ASKED, Phase.CONFIRMED)
        if self.phase in ready and not self.has_joined:
            self.has_joined = True
            self.heal()
            if self.phase is Phase.CONFIRMED:
                self.phase = Phase.LIVE

    def cut(self) -> None:
        self.phase = Phase.AWAY
        self.log.unsubscribe(self._receive)
        self.arriving.clear()

    # Publications

    def drop(self) -> None:
        """Lose the latest undelivered publication."""
        if self.arriving:
            self.arriving.pop()
            self.lacks_something = True

    def deliver(self) -> None:
        if self.phase is Phase.LIVE and self.arriving:
            self._take(self.arriving.popleft())

    def compare(self) -> None:
        """Compare the cursor with the log, as after a silence: detects a lost last publication."""
        if self.phase is Phase.LIVE and not self.arriving:
            at = self.log.position
            if at is None or at > self.position.cursor or self.rows.state.has_ended:
                self.heal()

    def lag(self) -> str | None:
        """Why it has missed something that nobody dropped; None if it has not."""
        at = self.log.position
        if self.phase is not Phase.LIVE or self.arriving or self.lacks_something or self.has_stopped:
            return None
        return (
            f"stands at {self.position.cursor}, the log at {at}" if at and at > self.position.cursor else None
        )

    def heal(self) -> None:
        """Catch up from the log, or from the rows if it does not reach back."""
        self.lacks_something = False
        self._hear()
        if self.has_stopped:
            return
        cursor = self.position.cursor
        held = self.log.read(None if cursor == START else cursor)
        decision = _decide_slice(cursor, held)
        state = self.rows.state
        # Redis was emptied after the end, and then a late or frozen producer wrote what it remembers.
        has_lost_the_end = state.announced and (held.attempt, held.last) < (state.attempt, state.last_seq)
        if decision.action is Action.GAP or has_lost_the_end:
            self._replace()
        elif decision.action is not Action.DUPLICATE:
            self.position.cursor = Cursor(held.attempt, held.lines[-1][0])
            self._announce(decision)
            self._show_lines([line for _, line in held.lines])

    def _receive(self, publication: Publication) -> None:
        self.arriving.append(publication)

    def _hear(self) -> None:
        """Receive the news, which have a log of their own: a run that was continued goes on after its end."""
        state = self.rows.state
        if state.continuations != self.continuations:
            self.continuations, self.goes_on_in, self.has_stopped = state.continuations, state.attempt, False

    def _take(self, publication: Publication) -> None:
        if self.has_stopped:
            if publication.header.attempt <= self.position.cursor.attempt:
                return
            self.has_stopped = False
        decision = self.position.take(publication.header)
        if decision.action is Action.GAP:
            self.heal()
        elif decision.action is not Action.DUPLICATE:
            self._announce(decision)
            self._show_lines(publication.lines[decision.skip :])

    def _replace(self) -> None:
        found = self.rows.load_replacement()
        if found and Cursor(found.attempt, found.seq) > self.position.cursor:
            self.position.cursor = Cursor(found.attempt, found.seq)
            self._show_lines(found.lines)

    def _announce(self, decision: Decision) -> None:
        if decision.action is Action.RESET:
            attempt = self.position.cursor.attempt
            self._show({"type": "reset", "run": self.rows.run, "attempt": attempt, "reason": "new_attempt"})

    def _show_lines(self, lines: list[bytes]) -> None:
        for line in lines:
            frame = json.decode(line)
            self._show(frame)
            is_stop = frame["type"] == "packet" and frame["obj"]["type"] == "stop"
            self.has_stopped = is_stop and self.position.cursor.attempt >= self.goes_on_in

    def _show(self, frame: dict[str, Any]) -> None:
        self.clock += 1
        self.sockets[-1].frames.append((self.clock, frame))


def _decide_slice(cursor: Cursor, held: LogSlice) -> Decision:
    """As web/socket/subscription.py does: GAP if the log is gone or does not reach back to the cursor."""
    if held.lines:
        return decide(cursor, Header(held.attempt, held.lines[0][0], held.lines[-1][0]))
    is_there = held.attempt and held.attempt >= cursor.attempt
    return Decision(Action.DUPLICATE if is_there else Action.GAP)
