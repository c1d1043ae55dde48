"""Repairs runs: those of dead workers, past their deadline, with a lost queue message, or with an unannounced end.

Also pushes session events that a crash kept from their log. Every repair is one query and one fenced move: idempotent,
and safe beside live workers and other sweepers. Rows that others are writing are left to the next sweep.
"""

import logging
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import timedelta
from enum import StrEnum
from functools import cache
from typing import Any, Final
from uuid import UUID

from django.db.models import Max, Q, QuerySet, Value
from django.db.models.functions import Now
from kombu.exceptions import ChannelError

from chat.events import session_events
from chat.infrastructure import log_context
from chat.log.stream import QUIET_TTL_S, event_log, positions_now
from chat.metrics import counters
from chat.models import Approval, Compression, DailyUse, PendingUse, Run, SessionEvent
from chat.models.run import RunQuerySet
from chat.protocol.errors import run_error
from chat.protocol.states import Status
from chat.runs import task_queue
from chat.runs.cancellation import UNCLAIMED, stop_abandoned_runs
from chat.runs.orphans import end_orphan, publish_end
from chat.sweeper import compressions as swept_compressions
from chat.sweeper import files as swept_files
from chat.sweeper.periodic import attempt_repair
from chat.turns.approvals import end_sign_in, expire
from knowledge.models import File

logger = logging.getLogger(__name__)

# A worker appends `stop` within milliseconds of the commit; after this it has crashed.
UNANNOUNCED_FOR: Final = timedelta(seconds=2)
# A worker ends its run at the deadline; after this it has failed to.
PAST_DEADLINE: Final = timedelta(seconds=5)
# Older events have been swept already.
RECENT: Final = timedelta(minutes=1)
# A log that is missing after this may just have expired: it would be begun again with its last event, for an hour.
MAY_HAVE_EXPIRED: Final = timedelta(seconds=QUIET_TTL_S / 2)
APPROVALS_AT_ONCE: Final = 100
# One pass ends no more runs of disabled models, since the others wait for the next pass.
DISABLED_AT_ONCE: Final = 200
LINED_UP_AT_ONCE: Final = 200


@dataclass
class SweepReport:
    """Counts of repairs: runs, except for `undecided` (approvals), `pushed` (sessions), `compressions` and `files`."""

    taken_over: int = 0
    lost: int = 0
    woken: int = 0
    stopped: int = 0
    deactivated: int = 0
    disabled: int = 0
    expired: int = 0
    undecided: int = 0
    announced: int = 0
    pushed: int = 0
    compressions: int = 0
    files: int = 0

    def __str__(self) -> str:
        return ", ".join(f"{f.name} {getattr(self, f.name)}" for f in fields(self) if getattr(self, f.name))


def sweep(*, trust_locks: bool) -> SweepReport:
    """Make one pass over everything. trust_locks: whether an owner with a free advisory lock counts as dead."""
    report = SweepReport()
    is_needed = _waiting(trust_locks=trust_locks).exists()
    if is_needed:
        _repair(report, trust_locks=trust_locks)
    try:
        if is_needed:
            report.woken = _enqueue_lost(_unclaimed())
            report.compressions += swept_compressions.enqueue_lost()
            report.files += swept_files.enqueue_lost()
        report.pushed = _push_events()
        report.files += swept_files.enqueue_vectors()
    except task_queue.UNREACHABLE as error:
        logger.warning("%s; the next sweep continues: %s", task_queue.describe_outage(error), error)
    repairs = asdict(report)
    counters.swept(takeovers=repairs.pop("taken_over"), repairs=repairs)
    return report


@cache
def _waiting(*, trust_locks: bool) -> QuerySet[Any, Any]:
    """Return the rows that _repair() changes or that need a queue message, in one query: mostly there are none, and the
    queries of all repairs would cost an idle system several times as much, every second.
    """
    rows: list[QuerySet[Any]] = [
        Run.objects.dead(trust_locks=trust_locks),
        Run.objects.abandoned(),
        _disabled(),
        _overdue(),
        Approval.objects.overdue(),
        Approval.objects.signed_in(),
        _unannounced(),
        Run.objects.strays(),
        PendingUse.objects.all(),
        Compression.objects.dead(),
        File.objects.abandoned(),
        File.objects.unannounced(),
        File.objects.with_stale_chunks(),
        _unclaimed(),
        Compression.objects.unclaimed(),
        File.objects.unclaimed(),
    ]
    first, *others = (query.select_related(None).order_by().values_list(Value(1)) for query in rows)
    return first.union(*others, all=True)


def _repair(report: SweepReport, *, trust_locks: bool) -> None:
    for run in Run.objects.dead(trust_locks=trust_locks).for_work().unlocked():
        with log_context.bound(
            run=run.pk,
            turn=run.turn_id,
            session=run.turn.session_id,
            model=run.model,
            request_id=run.turn.request_id,
        ):
            attempt_repair(str(run), _take_over, run, report)
    report.deactivated = attempt_repair("an abandoned run", stop_abandoned_runs)
    for run in _disabled().for_work()[:DISABLED_AT_ONCE].unlocked():
        error = run_error("model_not_configured")
        report.disabled += attempt_repair(str(run), end_orphan, run, Status.FAILED, error)
    for run in _overdue().for_work().unlocked():
        error = run_error("deadline_exceeded")
        report.expired += attempt_repair(str(run), end_orphan, run, Status.FAILED, error)
    for approval in Approval.objects.overdue().select_related("session")[:APPROVALS_AT_ONCE]:
        report.undecided += attempt_repair(str(approval), expire, approval)
    # Their worker died after it had stored the sign-in.
    for approval in Approval.objects.signed_in().select_related("session")[:APPROVALS_AT_ONCE]:
        report.undecided += attempt_repair(str(approval), end_sign_in, approval)
    for run in _unannounced():
        report.announced += attempt_repair(str(run), _announce, run)
    attempt_repair("what claims choose by", _line_up)
    attempt_repair("use that waits for its day", DailyUse.objects.add_pending)
    report.compressions = swept_compressions.take_over()
    report.files = swept_files.take_over() + swept_files.announce_ended()
    swept_files.delete_stale_chunks()


def _take_over(run: Run, report: SweepReport) -> None:
    if run.status == Status.STOPPING:
        report.stopped += end_orphan(run, Status.STOPPED)
    elif not run.has_failures_left:
        report.lost += end_orphan(run, Status.FAILED, run_error("worker_lost"))
    elif run.take_from_dead_owner():
        logger.warning("run %s: taken from dead owner %s", run.pk, run.owner)
        report.taken_over += 1
        _enqueue([run])


def _line_up() -> None:
    """Set what claims choose by where the version before has stored a run, its model has moved to another queue, or the
    turn before it was deleted.
    """
    strays = Run.objects.strays()[:LINED_UP_AT_ONCE].unlocked()
    Run.objects.filter(pk__in=[run.pk for run in strays]).live().line_up()


def _announce(run: Run) -> bool:
    publish_end(run.pk)
    return True


def _overdue() -> RunQuerySet:
    """Return the runs past their deadline that no worker has ended.

    The deadline of a run whose turn waits for another turn is set anew when that one has ended.
    """
    late = Q(deadline__lt=Now() - PAST_DEADLINE)
    return Run.objects.unblocked().filter(late, status__in=[Status.QUEUED, Status.RUNNING])


def _disabled() -> RunQuerySet:
    """Return the unclaimed runs of disabled models. A worker ends those that it holds, with all that it has shown
    (llm_worker/attempt/heartbeat.py).
    """
    return Run.objects.of_disabled_models().filter(status__in=UNCLAIMED)


def _unannounced() -> RunQuerySet:
    """Return the ended runs whose `stop` a crash kept from their log."""
    return Run.objects.filter(ended_at__lt=Now() - UNANNOUNCED_FOR, announced_at__isnull=True)


def _unclaimed() -> QuerySet[Run]:
    """Return the runs queued for a while, except runs of turns that wait for another turn."""
    return Run.objects.unblocked().unclaimed().select_related("model_config")


def _enqueue_lost(unclaimed: Iterable[Run]) -> int:
    """Enqueue again the unclaimed runs whose queue is empty: their message has been lost. Return how many.

    While a queue has messages its workers are busy, and another message would only make it longer.
    """
    waiting = list(unclaimed)
    queues = {run.queue for run in waiting}
    empty = {queue for queue in queues if not task_queue.queue_length(queue)}
    lost = [run for run in waiting if run.queue in empty]
    _enqueue(lost)
    return len(lost)


def _enqueue(runs: Iterable[Run]) -> None:
    """Enqueue runs. A queue that the broker refuses does not hold up other queues."""
    refused: set[str] = set()
    for run in runs:
        try:
            if run.queue not in refused:
                task_queue.enqueue(str(run.pk), run.queue)
        except task_queue.UNREACHABLE as error:
            logger.warning(
                "run %s: not enqueued yet. %s: %s", run.pk, task_queue.describe_outage(error), error
            )
            if not isinstance(error, ChannelError):
                return
            refused.add(run.queue)


def _push_events() -> int:
    """Push recent session events that a crash kept from the log; return the number of sessions."""
    recent = SessionEvent.objects.filter(created_at__gt=Now() - RECENT).values_list("session")
    newest = list(recent.annotate(n=Max("n"), age=Now() - Max("created_at")))
    logged = positions_now(event_log(session) for session, _, _ in newest)
    lacking = [
        session
        for (session, n, age), position in zip(newest, logged, strict=True)
        if (age < MAY_HAVE_EXPIRED if position is None else position.seq < n)
    ]
    for session in lacking:
        session_events.resend(session)
    return len(lacking)


class RequeueOutcome(StrEnum):
    """The result of a request to requeue a run; the values are shown in the admin."""

    ENQUEUED = "enqueued"
    WAITS = "waits for another turn to end"
    WORKED_ON = "a worker holds it"
    NOT_WAITING = "neither queued nor running"
    UNREACHABLE = "the broker does not answer; the sweeper enqueues it later"


def requeue(run_id: UUID) -> RequeueOutcome:
    """Enqueue a queued run again, or a running one whose lease has expired.

    Harmless if its first message still exists: only one delivery can claim the run.
    """
    run = Run.objects.for_work().get(pk=run_id)
    if run.status == Status.RUNNING and not _release_if_dead(run):
        return RequeueOutcome.WORKED_ON
    if run.status not in (Status.QUEUED, Status.RUNNING):
        return RequeueOutcome.NOT_WAITING
    if not Run.objects.unblocked().filter(pk=run.pk).exists():
        return RequeueOutcome.WAITS
    try:
        task_queue.enqueue(str(run.pk), run.queue)
    except task_queue.UNREACHABLE:
        return RequeueOutcome.UNREACHABLE
    return RequeueOutcome.ENQUEUED


def _release_if_dead(run: Run) -> bool:
    # By the lease alone: only the leading sweeper knows since when locks can be trusted (sweeper/process.py).
    is_dead = Run.objects.dead().filter(pk=run.pk).exists()
    return is_dead and run.release("asked_for")
