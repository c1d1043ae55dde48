"""Waking a run by hand: what the sweeper does by itself, for an operator who does not want to wait for it."""

from enum import StrEnum
from typing import Any

from chat.models import Run
from chat.protocol.states import Status
from chat.runs import task_queue


class RequeueOutcome(StrEnum):
    """What became of the wish."""

    ENQUEUED = "enqueued"
    WAITS = "waits for another turn to end"
    WORKED_ON = "a worker holds it"
    NOT_WAITING = "neither queued nor running"
    UNREACHABLE = "the broker does not answer; the sweeper enqueues it later"


def requeue(run_id: Any) -> RequeueOutcome:
    """Enqueue a queued run again, or one whose owner's lease has run out. Harmless if its first message is there:
    one of the two claims it."""
    run = Run.objects.for_work().get(pk=run_id)
    if run.status == Status.RUNNING and not _take_from_the_dead(run):
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


def _take_from_the_dead(run: Run) -> bool:
    # By the lease alone: that a free lock means death is known only to who has watched it (sweeper.py).
    is_dead = Run.objects.dead().filter(pk=run.pk).exists()
    return is_dead and run.release("asked_for")
