"""Requeues a run on an operator's request, without waiting for the sweeper."""

from enum import StrEnum
from uuid import UUID

from chat.models import Run
from chat.protocol.states import Status
from chat.runs import task_queue


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
