"""The workers: those that hold runs, and idle ones, which hold only their advisory lock."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, NamedTuple

from chat.infrastructure.liveness import is_worker
from chat.metrics.presence import Process
from chat.models import Run
from chat.models.sql.statements import Statement
from chat.protocol.states import HELD

# Displayed runs of each worker, the earliest claimed first.
MAX_RUNS: Final = 20


class _LockRow(NamedTuple):
    owner: int


class _BusyRow(NamedTuple):
    owner: int | None
    runs: int
    beat_at: datetime | None
    silent_s: float | None


# The advisory locks held in this database (their form is in chat/infrastructure/liveness.py).
# Plan: pg_locks is read whole.
_LOCKS: Final = Statement(
    """
    SELECT (classid::bigint << 32) | objid::bigint FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 1 AND granted
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """,
    _LockRow,
)
# Parameters: held (statuses). Plan: run_live.
_BUSY: Final = Statement(
    """
    SELECT owner, count(*), max(beat_at), EXTRACT(EPOCH FROM now() - max(beat_at))::float8
    FROM chat_run WHERE status = ANY(%(held)s) GROUP BY owner
    """,
    _BusyRow,
)


@dataclass
class WorkerRow:
    """A worker. has_lock: its advisory lock is held, so it is running. runs: the number of runs it holds.

    shown: some of these runs. silent_s: seconds since its latest heartbeat. process: its own report; None if there is
    none.
    """

    owner: int | None
    has_lock: bool
    runs: int = 0
    beat_at: datetime | None = None
    silent_s: float | None = None
    shown: list[Run] = field(default_factory=list)
    process: Process | None = None


def list_workers(processes: Mapping[int | None, Process]) -> list[WorkerRow]:
    """Return the workers, most runs first. processes: by owner.
    An idle worker has only its lock and sends no heartbeat.
    """
    alive = {lock.owner for lock in _LOCKS.all() if is_worker(lock.owner)}
    held = sorted(status.value for status in HELD)
    busy = [
        WorkerRow(owner, owner in alive, runs, beat_at, silent_s)
        for owner, runs, beat_at, silent_s in _BUSY.all(held=held)
    ]
    idle = [WorkerRow(owner, has_lock=True) for owner in sorted(alive - {worker.owner for worker in busy})]
    shown = _load_runs()
    for worker in busy:
        worker.shown = shown[worker.owner]
    workers = sorted(busy, key=lambda worker: -worker.runs) + idle
    for worker in workers:
        worker.process = None if worker.owner is None else processes.get(worker.owner)
    return workers


def _load_runs() -> dict[int | None, list[Run]]:
    """Load the runs that workers hold, at most MAX_RUNS of each owner."""
    by_owner: dict[int | None, list[Run]] = defaultdict(list)
    runs = Run.objects.filter(status__in=HELD).select_related("turn__session__owner")
    fields = ("owner", "model", "status", "attempt", "claimed_at", "turn__session__owner__username")
    for run in runs.only(*fields).order_by("claimed_at").iterator(chunk_size=500):
        if len(by_owner[run.owner]) < MAX_RUNS:
            by_owner[run.owner].append(run)
    return by_owner
