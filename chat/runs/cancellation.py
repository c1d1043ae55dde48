"""Stopping runs and turns. What executes a run is asked to stop; what nobody has begun is ended here."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from redis.exceptions import RedisError

from chat.infrastructure import revocation
from chat.models import Run, Turn
from chat.models.outcome import overall_stop_reason
from chat.protocol.errors import ApiError
from chat.protocol.states import LIVE, TERMINAL, Status
from chat.runs.orphans import end_orphan

logger = logging.getLogger(__name__)

# A worker that claims one of these finds it ended: no worker holds them.
UNCLAIMED = (Status.QUEUED, Status.WAITING)


@dataclass(frozen=True)
class StopOutcome:
    """status: of the run or turn now. had_ended: there was nothing left to stop."""

    status: str
    had_ended: bool = False


def stop_run(run_id: Any) -> StopOutcome:
    """Stop one run; repeating it changes nothing. Raises ApiError if there is no such run."""
    had_ended = True
    while True:
        if session_id := Run.objects.stop(run_id):
            _revoke(session_id, run_id)
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
            _revoke(run.turn.session_id, run_id)
            return StopOutcome(Status.STOPPING)
        # Otherwise another process moved it in between: look again.


def stop_turn(turn: Turn) -> StopOutcome:
    """Stop all runs of a turn."""
    cancelled = [stop_run(run_id) for run_id in turn.runs.values_list("pk", flat=True)]
    return StopOutcome(
        turn_status([one.status for one in cancelled]), all(one.had_ended for one in cancelled)
    )


def interrupt(turn: Turn) -> None:
    """Stop a turn and what it waits for, the newest first, so that none of them is woken in between."""
    stop_turn(turn)
    if turn.after is not None and turn.after.ended_at is None:
        interrupt(turn.after)


def turn_status(statuses: Iterable[str]) -> str:
    """stopping while any run is live (a stop was asked for), else how the turn ended."""
    found = set(statuses)
    if found & LIVE:
        return Status.STOPPING
    return {"user_cancelled": Status.STOPPED, "error": Status.FAILED, "finished": Status.COMPLETED}[
        overall_stop_reason(found)
    ]


def _revoke(session_id: Any, run_id: Any) -> None:
    try:
        revocation.revoke(session_id, run_id)
    except RedisError as error:
        # Its worker reads `stopping` from the row at its next beat.
        logger.warning("run %s: stop waits for the next beat: %s", run_id, error)
