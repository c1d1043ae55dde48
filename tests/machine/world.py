"""The state machine of one run: its workers, log, row and subscribers, and every action that can happen to them.

Every action is total (it does nothing where it is impossible), so that any sequence is a valid history. The log and the
rows are models (model.py, model_rows.py) or real (real.py). Both use the packet producer of chat/log/producer.py.
"""

from collections import deque
from typing import Any, Final, Protocol

from chat.log.producer import PacketProducer
from chat.log.stream import Appended
from chat.protocol import wire as p
from chat.protocol.states import STOP_REASONS, Status
from tests.faults.history import ClientLog, History, Violation, check
from tests.faults.history_data import Database
from tests.machine import tab
from tests.machine.worker import HERE, Worker

TABS: Final = 2
MAX_WORKERS: Final = 4
# Rounds after which a world that has not settled counts as stuck.
PATIENCE_ROUNDS: Final = 60
# Positions in an append's arguments: keys, attempt, first, base, TTL, channel, name, claim, then the lines.
ATTEMPT, FIRST, BASE, LINES = 2, 3, 4, 9

# action -> relative frequency.
ACTIONS: Final = {
    "claim": 6, "say": 20, "write": 8, "call": 4, "append": 20, "checkpoint": 3, "beat": 3, "finish": 1, "announce": 3, "sweep": 4,
    "go_on": 2,
    "ask": 12, "confirm": 12, "join": 12, "deliver": 24, "compare": 4,
    "kill": 2, "expire": 3, "stop": 0.3, "append_unanswered": 5, "repeat_append": 5, "drop": 8, "cut": 8,
    "empty": 1.5,
}  # fmt: skip
# Actions that inject a fault; each counts as a cut point.
FAULTS: Final = frozenset(
    {"kill", "expire", "stop", "append_unanswered", "repeat_append", "drop", "cut", "empty"}
)


class Log(tab.Log, Protocol):
    def append(self, attempt: int, first: int, lines: list[bytes], base: int) -> Appended: ...

    def empty(self) -> None: ...

    def catch_up(self) -> None: ...

    def close(self) -> None: ...


class Rows(tab.Rows, Protocol):
    @property
    def may_lose_the_log(self) -> bool: ...

    def claim(self) -> int | None: ...

    def beat(self, attempt: int) -> Status | None: ...

    def expire(self) -> None: ...

    def checkpoint(self, attempt: int, text: str, seq: int) -> bool: ...

    def commit_end(self, attempt: int, status: Status, text: str, last_seq: int) -> bool: ...

    def announce(self) -> None: ...

    def stop(self) -> None: ...

    def go_on(self) -> None: ...

    def sweep(self) -> None: ...

    def rows(self) -> Database: ...


class NoScheduler:
    """Replaces the publisher: the world takes each producer's appends directly."""

    def schedule(self, producer: PacketProducer, *, urgent: bool) -> None: ...

    def unschedule(self, producer: PacketProducer) -> None: ...


class World:
    def __init__(self, log: Log, rows: Rows, *, waits_for_confirmation: bool = True) -> None:
        self.log = log
        self.rows = rows
        self.tabs = [tab.Tab(log, rows, waits_for_confirmation=waits_for_confirmation) for _ in range(TABS)]
        self.workers: list[Worker] = []
        self.earlier: deque[list[Any]] = deque(maxlen=8)
        self.words = 0
        self.cuts = 0
        self.newest_logged = 0
        self.violations: list[Violation] = []

    def do(self, action: str, choice: int = 0) -> None:
        """Perform an action. choice: the worker, tab or earlier append, modulo their number."""
        getattr(self, action)(choice)
        self.log.catch_up()
        self.cuts += action in FAULTS
        self._check_log()

    # Workers

    def claim(self, choice: int) -> None:
        """Claim the run; every third attempt that finds saved text resumes from it, and all that continue an answer."""
        found = self.rows.state
        kept = found.text
        attempt = self.rows.claim()
        if attempt is None:
            return
        producer = PacketProducer(
            p.RunAddress(self.rows.session, self.rows.run, attempt), NoScheduler(), lambda: None
        )
        goes_on = bool(kept) and (found.continuations > 0 or choice % 3 == 0)
        if goes_on:
            producer.open_with_snapshot(p.Snapshot(self.rows.run, attempt, 0, {"text": kept}))
        # After a snapshot too, in the same append: see test_a_snapshot_is_never_published_alone.
        producer.emit(HERE, p.RunStart(model="model"))
        self.workers = [*self.workers, Worker(attempt, producer, kept if goes_on else "")][-MAX_WORKERS:]

    def say(self, choice: int) -> None:
        worker = self._worker(choice)
        if worker and worker.may_emit and not worker.is_writing:
            self.words += 1
            word = f"{self.words}@{worker.attempt} "
            worker.text += word
            worker.producer.emit(HERE, p.MessageDelta(text=word))

    def write(self, choice: int) -> None:
        """Stream a piece of a tool call's arguments; the first piece starts the call."""
        worker = self._worker(choice)
        if worker and worker.may_emit:
            worker.write(f"{choice}")

    def call(self, choice: int) -> None:
        """Complete and store the tool call."""
        worker = self._worker(choice)
        if worker and worker.may_emit:
            worker.end_writing()

    def append(self, choice: int) -> None:
        self._append(self._worker(choice), is_answered=True)

    def append_unanswered(self, choice: int) -> None:
        """An append whose reply is lost, so that it is sent again."""
        self._append(self._worker(choice), is_answered=False)

    def repeat_append(self, choice: int) -> None:
        """Deliver an earlier append of any worker once more."""
        if self.earlier:
            self._send(self.earlier[choice % len(self.earlier)])

    def checkpoint(self, choice: int) -> None:
        worker = self._worker(choice)
        if worker and not worker.has_committed:
            self.rows.checkpoint(worker.attempt, worker.text, worker.producer.settle_for_checkpoint())

    def beat(self, choice: int) -> None:
        """Send a heartbeat, which reports a stop. A lost lease is ignored, as by a paused process."""
        worker = self._worker(choice)
        if worker and self.rows.beat(worker.attempt) == Status.STOPPING:
            worker.must_stop = True

    def finish(self, choice: int) -> None:
        worker = self._worker(choice)
        if worker and not worker.has_committed:
            self._end(worker)

    def announce(self, choice: int) -> None:
        worker = self._worker(choice)
        if worker and worker.has_committed and not worker.producer.has_more:
            self.rows.announce()
            self.workers.remove(worker)

    def kill(self, choice: int) -> None:
        worker = self._worker(choice)
        if worker:
            self.workers.remove(worker)

    # The database's clock, the user, the sweeper, Redis

    def expire(self, _: int) -> None:
        self.rows.expire()

    def stop(self, _: int) -> None:
        self.rows.stop()

    def go_on(self, _: int) -> None:
        """The user continues the answer; nothing happens unless it has ended."""
        self.rows.go_on()

    def sweep(self, _: int) -> None:
        self.rows.sweep()

    def empty(self, _: int) -> None:
        if self.rows.may_lose_the_log:
            self.newest_logged = 0
            self.log.empty()

    # Tabs

    def ask(self, choice: int) -> None:
        self._tab(choice).ask()

    def confirm(self, choice: int) -> None:
        self._tab(choice).confirm()

    def join(self, choice: int) -> None:
        self._tab(choice).join()
        self._check_lag(self._tab(choice))

    def deliver(self, choice: int) -> None:
        self._tab(choice).deliver()
        self._check_lag(self._tab(choice))

    def drop(self, choice: int) -> None:
        self._tab(choice).drop()

    def cut(self, choice: int) -> None:
        self._tab(choice).cut()

    def compare(self, choice: int) -> None:
        self._tab(choice).compare()

    # The end

    def settle(self) -> list[Violation]:
        """Let the run end without further faults; returns all violations."""
        for _ in range(PATIENCE_ROUNDS):
            if self.rows.state.announced and not self.workers:
                break
            self._work_on()
        self.log.catch_up()
        for each in self.tabs:
            each.ask()
            each.confirm()
            each.join()
            for _ in range(len(each.arriving)):
                each.deliver()
            each.compare()
            each.sockets[-1].open_at_end = True
        self.log.close()
        clients = [ClientLog(f"tab {number}", each.sockets) for number, each in enumerate(self.tabs)]
        return self.violations + check(History(clients, self.rows.rows())).violations

    def _work_on(self) -> None:
        for worker in list(self.workers):
            if not worker.has_committed:
                self._end(worker)
            while worker in self.workers and worker.producer.has_more:
                self._append(worker, is_answered=True)
            if worker in self.workers and worker.has_committed:
                self.announce(self.workers.index(worker))
        if not self.workers:
            self.rows.expire()
            self.rows.sweep()
            self.claim(1)
        self._check_log()

    def _end(self, worker: Worker) -> None:
        """Commit the end with the fencing token, then emit `stop`. A stopping run can only end as stopped."""
        worker.end_writing()
        ends = [Status.STOPPED] if worker.must_stop else [Status.COMPLETED, Status.STOPPED]
        last_seq = worker.producer.settle() + 1
        for status in ends:
            if status == Status.STOPPED and self.rows.state.status != Status.STOPPING:
                continue
            if self.rows.commit_end(worker.attempt, status, worker.text, last_seq):
                worker.has_committed = True
                worker.producer.emit(HERE, p.Stop(stop_reason=STOP_REASONS[status]))
                return
        self.workers.remove(worker)

    def _append(self, worker: Worker | None, *, is_answered: bool) -> None:
        arguments = worker.producer.next_append() if worker else []
        if worker and arguments:
            self.earlier.append(arguments)
            reply = self._send(arguments)
            if is_answered:
                worker.producer.confirm(reply)
                if worker.producer.stale_for is not None:
                    self.workers.remove(worker)

    def _send(self, arguments: list[Any]) -> Appended:
        attempt, first, base = arguments[ATTEMPT], arguments[FIRST], arguments[BASE]
        return self.log.append(attempt, first, arguments[LINES:], base)

    def _check_lag(self, one: tab.Tab) -> None:
        lag = one.lag()
        if lag:
            self._violation("I5", f"{lag}: it lacks packets although no publication was dropped")

    def _check_log(self) -> None:
        at = self.log.position
        if at and at.attempt < self.newest_logged:
            self._violation("I3", f"the log went back from attempt {self.newest_logged} to {at.attempt}")
        self.newest_logged = max(self.newest_logged, at.attempt if at else 0)

    def _violation(self, invariant: str, evidence: str) -> None:
        self.violations.append(Violation(invariant, {"run": self.rows.run}, evidence))

    def _worker(self, choice: int) -> Worker | None:
        return self.workers[choice % len(self.workers)] if self.workers else None

    def _tab(self, choice: int) -> tab.Tab:
        return self.tabs[choice % len(self.tabs)]
