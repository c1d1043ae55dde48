"""Stopping runs and turns. What executes a run is asked to stop; what nobody has begun is ended here."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F
from redis.exceptions import RedisError

from chat import packets, protocol, revocation
from chat.ending import End, announce, commit_end, overall_stop_reason
from chat.models import ChatMessage, Run, Turn
from chat.refusals import Refusal
from chat.shapes import message_shape
from chat.states import LIVE, TERMINAL, Status
from chat.stream import append_now, run_log

logger = logging.getLogger(__name__)

# A worker that claims one of these finds it ended: no worker holds them.
UNCLAIMED = (Status.QUEUED, Status.WAITING)


@dataclass(frozen=True)
class Cancelled:
    """status: of the run or turn now. had_ended: there was nothing left to stop."""

    status: str
    had_ended: bool = False


def cancel_run(run_id: Any) -> Cancelled:
    """Stop one run; repeating it changes nothing. Raises Refusal if there is no such run."""
    had_ended = True
    while True:
        run = Run.objects.for_work().filter(pk=run_id).first()
        if run is None:
            raise Refusal("run_not_found")
        if run.status in TERMINAL:
            return Cancelled(run.status, had_ended)
        had_ended = False
        if run.status in UNCLAIMED:
            _end_unclaimed(run)
        elif run.status == Status.STOPPING or Run.objects.filter(pk=run_id).move(Status.STOPPING):
            _revoke(run)
            return Cancelled(Status.STOPPING)
        # Otherwise another process moved it in between: look again.


def cancel_turn(turn: Turn) -> Cancelled:
    """Stop all runs of a turn."""
    cancelled = [cancel_run(run_id) for run_id in turn.runs.values_list("pk", flat=True)]
    return Cancelled(turn_status([one.status for one in cancelled]), all(one.had_ended for one in cancelled))


def turn_status(statuses: Iterable[str]) -> str:
    """stopping while any run is live (a stop was asked for), else how the turn ended."""
    found = set(statuses)
    if found & LIVE:
        return Status.STOPPING
    return {"user_cancelled": Status.STOPPED, "error": Status.FAILED, "finished": Status.COMPLETED}[
        overall_stop_reason(found)
    ]


def _revoke(run: Run) -> None:
    try:
        revocation.revoke(run.turn.session_id, run.pk)
    except RedisError as error:
        # Its worker reads `stopping` from the row at its next beat.
        logger.warning("run %s: stop waits for the next beat: %s", run.pk, error)


def _end_unclaimed(run: Run) -> None:
    """Take the next attempt and end the run; nothing happens if it was claimed first."""
    attempt = run.attempt + 1
    end = End(
        Status.STOPPED,
        last_seq=1,
        text=run.message.text,
        reasoning=run.message.reasoning,
        time_to_first_token_ms=run.time_to_first_token_ms,
        cycles=run.cycles,
    )
    with transaction.atomic():
        unclaimed = Run.objects.filter(pk=run.pk, attempt=run.attempt, status__in=UNCLAIMED)
        ended = unclaimed.update(attempt=F("attempt") + 1) and commit_end(run.pk, attempt, end)
    if ended:
        try:
            _close_log(run, attempt, end)
            announce(run.pk)
        except RedisError as error:
            # The end is committed; announcing it can be completed from the database.
            logger.warning("run %s: its stop is not announced yet: %s", run.pk, error)


def _close_log(run: Run, attempt: int, end: End) -> None:
    """The whole log of an attempt that nobody executed: what is kept of the run, and `stop`."""
    session, name = str(run.turn.session_id), str(run.pk)
    message = ChatMessage.objects.select_related("run").get(pk=run.message_id)
    entries: list[protocol.LogEntry] = [protocol.Snapshot(name, attempt, 0, message_shape(message))]
    for placement, obj in packets.Blocks(model_index=run.model_index).stop(end.stop_reason):
        entries.append(protocol.Packet(session, name, attempt, end.last_seq, placement, obj))
    append_now(run_log(session, name), attempt, 0, [protocol.encode(entry) for entry in entries], base=0)
