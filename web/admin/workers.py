"""The admin's workers page: the current queues, workers with their runs, recent takeovers, and counters."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.contrib import admin
from django.db.models import Count, Min, Q, QuerySet, Value
from django.db.models.functions import Coalesce, Now
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from redis.exceptions import RedisError

from chat.infrastructure.liveness import is_worker
from chat.metrics import presence, tally
from chat.metrics.counters import REPAIRS, SLOW_CLOSES, SWEEPS, TAKEOVERS, TASKS_DROPPED
from chat.metrics.presence import Process
from chat.models import Compression, ModelConfig, Run
from chat.models.sql.statements import Statement
from chat.protocol.states import HELD, Status
from chat.protocol.tasks import COMPRESSION_QUEUE, DEFAULT_QUEUE, INGEST_QUEUE
from chat.runs import task_queue
from knowledge.models import File, FileStatus
from web.admin_overviews import overview

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


TITLE: Final = _("Queues and workers")
LATEST_TAKEOVERS: Final = 20
# Counters of all processes, counted since they were first stored.
COUNTED: Final = {
    next(iter(counter.describe())).name: label
    for counter, label in (
        (TAKEOVERS, _("Runs taken from a dead worker")),
        (REPAIRS, _("Other repairs of the sweeper")),
        (SWEEPS, _("Passes of the sweeper")),
        (TASKS_DROPPED, _("Tasks dropped")),
        (SLOW_CLOSES, _("Sockets closed for reading too slowly")),
    )
}
# Kind of a repair (SweepReport) -> description.
REPAIRED: Final = {
    "lost": _("runs failed after too many takeovers"),
    "woken": _("runs enqueued again"),
    "stopped": _("runs stopped for a dead worker"),
    "deactivated": _("runs of deactivated users or in the trash"),
    "disabled": _("runs of disabled models"),
    "expired": _("runs past their deadline"),
    "undecided": _("approvals that nobody decided"),
    "announced": _("ends of runs announced"),
    "pushed": _("chats whose events were sent again"),
    "compressions": _("compressions"),
    "files": _("files"),
}


@overview("workers/", "workers", TITLE)
def show_workers(request: HttpRequest) -> HttpResponse:
    processes, counts = _load_processes()
    pools = {pool.queue: pool for pool in presence.pools(processes)}
    return render(
        request,
        "admin/chat/workers.html",
        {
            **admin.site.each_context(request),
            "title": TITLE,
            "now": timezone.now(),
            "queues": _load_queues(pools),
            "workers": list_workers({process.work.owner: process for process in processes}),
            "processes": processes,
            "counts": counts,
            "taken_over": Run.objects.filter(failures__gt=0)
            .select_related("turn__session__owner")
            .only("model", "status", "failures", "attempt", "created_at", "turn__session__owner__username")
            .order_by("-created_at")[:LATEST_TAKEOVERS],
        },
    )


def _load_queues(pools: Mapping[str, presence.Pool]) -> list[dict[str, Any]]:
    """Return for each queue the messages at the broker, the rows that wait, and its pool.
    Rows behind another turn are counted apart; `oldest` tells how long the first of the others has waited.
    """
    queue = Coalesce("model_config__queue", Value(DEFAULT_QUEUE))
    ready = Q(turn__after__isnull=True) | Q(turn__after__ended_at__isnull=False)
    queued = Run.objects.filter(status=Status.QUEUED).order_by().values_list(queue)
    rows = {
        name: (waiting, blocked, oldest)
        for name, waiting, blocked, oldest in queued.annotate(
            waiting=Count("pk", filter=ready),
            blocked=Count("pk", filter=~ready),
            oldest=Now() - Min("queued_at", filter=ready),
        )
    }
    others: dict[str, QuerySet[Any]] = {
        COMPRESSION_QUEUE: Compression.objects.filter(status="queued"),
        INGEST_QUEUE: File.objects.filter(status=FileStatus.PROCESSING, lease_until__isnull=True),
    }
    for name, queued_rows in others.items():
        waits = queued_rows.order_by().aggregate(number=Count("pk"), oldest=Now() - Min("queued_at"))
        rows[name] = (waits["number"], 0, waits["oldest"])
    names = {DEFAULT_QUEUE, *rows, *pools}
    names |= set(ModelConfig.objects.order_by().values_list("queue", flat=True).distinct())
    none = (0, 0, None)
    return [
        {
            "name": name,
            "messages": _count_messages(name),
            "waiting": waiting,
            "blocked": blocked,
            "oldest": oldest,
            "pool": pools.get(name),
        }
        for name in sorted(names)
        for waiting, blocked, oldest in [rows.get(name, none)]
    ]


def _count_messages(queue: str) -> int | None:
    """Return the number of messages at the broker; None if it does not respond."""
    try:
        return task_queue.queue_length(queue)
    except task_queue.UNREACHABLE:
        return None


def _load_processes() -> tuple[list[presence.Process], list[dict[str, Any]]]:
    """Return the live processes, and the counters of all of them; both empty if Redis does not respond."""
    try:
        processes, sums = presence.live_processes(), tally.sums()
    except RedisError:
        return [], []
    counts = [
        {"name": COUNTED[metric.name], "kind": _name_kind(sample.labels), "value": int(sample.value)}
        for metric in sums
        if metric.name in COUNTED
        for sample in metric.samples
    ]
    return processes, counts


def _name_kind(labels: dict[str, str]) -> str:
    """Return the kind of a counter; empty for a counter without kinds.
    A kind that only another version counts is named as it is stored.
    """
    return ", ".join(str(REPAIRED.get(kind, kind)) for kind in labels.values())
