"""What the sweeper repairs, each a query and a move: runs whose owner died, whose message was lost, that are out of
time, that nobody ends, whose end nobody announced. Everything here may run twice, and beside live workers.
"""

import logging
from collections.abc import Iterable
from dataclasses import asdict, dataclass, fields
from datetime import timedelta
from typing import Any, Final

from django.db.models import Max, Q, QuerySet
from django.db.models.functions import Now

from chat.events import session_events
from chat.log.stream import event_log, positions_now
from chat.metrics import counters
from chat.models import Run, SessionEvent
from chat.protocol.states import Status
from chat.protocol.wire import run_error
from chat.runs import task_queue
from chat.runs.orphans import end_orphan, publish_end
from chat.sweeper import compressions as swept_compressions

logger = logging.getLogger(__name__)

# Its worker says `stop` within milliseconds of the commit; later it is not going to.
UNANNOUNCED_FOR: Final = timedelta(seconds=2)
# Its worker ends it at the deadline; after this it has not.
PAST_DEADLINE: Final = timedelta(seconds=5)
# Events older than this have had their sweeps.
RECENT: Final = timedelta(minutes=1)


@dataclass
class SweepReport:
    """What one sweep did: numbers of runs (and of sessions whose events were pushed, and of compressions)."""

    taken_over: int = 0
    lost: int = 0
    woken: int = 0
    stopped: int = 0
    expired: int = 0
    announced: int = 0
    pushed: int = 0
    compressions: int = 0

    def __str__(self) -> str:
        return ", ".join(f"{f.name} {getattr(self, f.name)}" for f in fields(self) if getattr(self, f.name))


def sweep(*, trust_locks: bool) -> SweepReport:
    """One pass. trust_locks: whether a free lock means death (chat/infrastructure/liveness.py)."""
    done = SweepReport()
    for run in Run.objects.dead(trust_locks=trust_locks).for_work():
        _take_over(run, done)
    for run in _overdue().for_work():
        done.expired += end_orphan(run, Status.FAILED, run_error("deadline_exceeded"))
    for run in Run.objects.filter(ended_at__lt=Now() - UNANNOUNCED_FOR, announced_at__isnull=True):
        publish_end(run.pk)
        done.announced += 1
    done.compressions = swept_compressions.take_over()
    try:
        done.woken = _wake(_unclaimed())
        done.pushed = _push_events()
        done.compressions += swept_compressions.wake()
    except task_queue.UNREACHABLE as error:
        logger.warning("Redis is away, the next sweep goes on: %s", error)
    repairs = asdict(done)
    counters.swept(takeovers=repairs.pop("taken_over"), repairs=repairs)
    return done


def _take_over(run: Run, done: SweepReport) -> None:
    if run.status == Status.STOPPING:
        done.stopped += end_orphan(run, Status.STOPPED)
    elif not run.has_failures_left:
        done.lost += end_orphan(run, Status.FAILED, run_error("worker_lost"))
    elif run.take_from_dead_owner():
        logger.warning("run %s: taken from dead owner %s", run.pk, run.owner)
        done.taken_over += 1
        _wake_now([run])


def _overdue() -> Any:
    """Out of time, and held by nobody who would say so."""
    late = Q(deadline__lt=Now() - PAST_DEADLINE)
    return Run.objects.filter(late, status__in=[Status.QUEUED, Status.RUNNING])


def _unclaimed() -> QuerySet[Run]:
    """Queued for a while. Turns that wait for another are not: nothing is wrong with them."""
    return Run.objects.unblocked().unclaimed().select_related("model_config")


def _wake(runs: Iterable[Run]) -> int:
    """Enqueue those whose message must have been lost: their queue is empty and yet nobody has claimed them.

    While a queue has messages, workers are simply busy, and sending again would only make it longer.
    """
    waiting = list(runs)
    queues = {run.queue for run in waiting}
    empty = {queue for queue in queues if not task_queue.queue_length(queue)}
    lost = [run for run in waiting if run.queue in empty]
    _wake_now(lost)
    return len(lost)


def _wake_now(runs: Iterable[Run]) -> None:
    for run in runs:
        try:
            task_queue.enqueue(str(run.pk), run.queue)
        except task_queue.UNREACHABLE as error:
            logger.warning("run %s is not enqueued yet: %s", run.pk, error)
            return


def _push_events() -> int:
    """Give the sessions' logs what a crash between commit and push kept from them."""
    recent = SessionEvent.objects.filter(created_at__gt=Now() - RECENT).values_list("session")
    newest = dict(recent.annotate(newest=Max("n")))
    held = positions_now(event_log(session) for session in newest)
    lacking = [
        session for session, at in zip(newest, held, strict=True) if at is None or at.seq < newest[session]
    ]
    for session in lacking:
        session_events.resend(session)
    return len(lacking)
