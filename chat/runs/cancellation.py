"""Stops runs and turns for a user: asks the worker that executes a run, and ends runs that no worker executes.

Stopping a run makes its worker cancel the run's coroutine. Every function is idempotent.
"""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from redis.exceptions import RedisError

from chat.infrastructure import revocation
from chat.models import Run, Turn
from chat.models.outcome import overall_stop_reason
from chat.protocol.errors import ApiError
from chat.protocol.states import LIVE, TERMINAL, Status
from chat.runs.orphans import end_orphan

logger = logging.getLogger(__name__)

# No worker executes runs in these statuses, so they are ended here; a later claim finds them ended.
UNCLAIMED = (Status.QUEUED, Status.WAITING)


@dataclass(frozen=True)
class StopOutcome:
    """The result of a stop.  status: of the run or turn now.  had_ended: whether it had ended before the request."""

    status: str
    had_ended: bool = False


def stop_run(run_id: UUID) -> StopOutcome:
    """Stop one run. Idempotent. Raises ApiError if there is no such run."""
    had_ended = True
    while True:
        if stopped := Run.objects.stop(run_id):
            _revoke(stopped.session_id, run_id, stopped.continuations)
            return StopOutcome(Status.STOPPING)
        run = Run.objects.for_work().filter(pk=run_id).first()
        if run is None:
            raise ApiError("run_not_found")
        if run.status in TERMINAL:
            return StopOutcome(run.status, had_ended)
        had_ended = False
        if run.status in UNCLAIMED:
            end_orphan(run, Status.STOPPED)
        elif run.status == Status.STOPPING:
            _revoke(run.turn.session_id, run_id, run.continuations)
            return StopOutcome(Status.STOPPING)
        # Otherwise another process moved the run since it was read: read it again.


def stop_turn(turn: Turn) -> StopOutcome:
    """Stop all runs of a turn. Idempotent."""
    stopped = [stop_run(run_id) for run_id in turn.runs.values_list("pk", flat=True)]
    return StopOutcome(turn_status([one.status for one in stopped]), all(one.had_ended for one in stopped))


def stop_abandoned_runs() -> int:
    """Stop the live runs of deactivated users and in the trash, and return their number.
    The sweeper calls it every second."""
    runs = list(Run.objects.abandoned().values_list("pk", flat=True))
    for run_id in runs:
        stop_run(run_id)
    return len(runs)


def interrupt(turn: Turn) -> None:
    """Stop a turn and the turns it waits for, newest first, so that the end of one does not start the next."""
    stop_turn(turn)
    if turn.after is not None and turn.after.ended_at is None:
        interrupt(turn.after)


def turn_status(statuses: Iterable[str]) -> str:
    """Return `stopping` while any run is live, else the status that the turn ended with."""
    distinct = set(statuses)
    if distinct & LIVE:
        return Status.STOPPING
    return {"user_cancelled": Status.STOPPED, "error": Status.FAILED, "finished": Status.COMPLETED}[
        overall_stop_reason(distinct)
    ]


def _revoke(session_id: UUID, run_id: UUID, continuations: int) -> None:
    try:
        revocation.revoke(session_id, revocation.part_of(run_id, continuations))
    except RedisError as error:
        # The worker reads `stopping` from the row at its next heartbeat.
        logger.warning("run %s: stop waits for the next heartbeat: %s", run_id, error)
