"""What an attempt leaves in the database, fenced by its number: checkpoints, its end, or the run put back.

A write that Postgres cannot take now is tried again until it is done or refused: the text in hand is not given up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from uuid import UUID

from django.db import transaction

from chat.compressions import requests as compression_requests
from chat.infrastructure.fault_points import reach
from chat.models import Run
from chat.models.outcome import RunOutcome
from chat.models.sql.statements import Statement, literals
from chat.protocol.states import HELD as HELD_STATUSES
from chat.protocol.states import TERMINAL, Status
from chat.runs import completion


class SavedRun(NamedTuple):
    id: UUID


# Run and message of any number of runs in one statement: with the ORM, checkpoints cost more than the stream.
# Parameters: owner, and the arrays run, attempt, seq, text, reasoning. Plan: primary keys alone.
_SAVE = """
    WITH given AS (
        SELECT * FROM unnest(
            %(run)s::uuid[], %(attempt)s::int[], %(seq)s::int[], %(text)s::text[], %(reasoning)s::text[]
        ) AS g(run, attempt, seq, text, reasoning)
    ), held AS (
        SELECT run.id, run.message_id, given.seq, given.text, given.reasoning
        FROM chat_run AS run JOIN given ON run.id = given.run AND run.attempt = given.attempt
        WHERE run.owner = %(owner)s AND run.status IN ({held}) AND run.saved_seq <= given.seq
        ORDER BY run.id FOR NO KEY UPDATE OF run {locked}
    ), marked AS (
        UPDATE chat_run AS run SET saved_seq = held.seq FROM held WHERE run.id = held.id
    )
    UPDATE chat_chatmessage AS message SET text = held.text, reasoning = held.reasoning
    FROM held WHERE message.id = held.message_id RETURNING held.id
"""
# A checkpoint of many runs does not wait for one that is being ended or extended at this moment: it is saved next time.
SAVE_WHAT_IS_FREE = Statement(_SAVE.format(held=literals(HELD_STATUSES), locked="SKIP LOCKED"), SavedRun)
SAVE_PATIENTLY = Statement(_SAVE.format(held=literals(HELD_STATUSES), locked=""), SavedRun)


@dataclass(frozen=True)
class Checkpoint:
    """What an attempt has said so far, complete up to its packet `seq`. pieces: how many deltas that were."""

    run: Run
    seq: int
    text: str
    reasoning: str
    pieces: int


def save_checkpoints(owner: int, held: Sequence[Checkpoint]) -> set[UUID]:
    """Write checkpoints of this owner's runs; returns those that were saved. The others are locked, or not ours."""
    return _save(SAVE_WHAT_IS_FREE, owner, held)


def save_checkpoint(owner: int, held: Checkpoint) -> None:
    """One checkpoint, in the caller's transaction, which holds the run."""
    _save(SAVE_PATIENTLY, owner, [held])


def finish_run(run: Run, end: RunOutcome) -> RunOutcome | None:
    """Commit the end; returns the one that was committed, None if the run is not ours any more."""
    reach("before_finish")
    if completion.commit_end(run.pk, run.attempt, end):
        reach("after_finish")
        return end
    seen = Run.objects.filter(pk=run.pk, attempt=run.attempt, owner=run.owner).first()
    if seen is None:
        return None
    # A stop may come while the last words are written: a run that is stopping can only end as stopped.
    stopped = replace(end, status=Status.STOPPED, error=None, last_seq=end.last_seq - bool(end.error))
    if seen.status == Status.STOPPING:
        return stopped if completion.commit_end(run.pk, run.attempt, stopped) else None
    if seen.status in TERMINAL:
        # Committed by the call before this one, whose answer was lost with the connection.
        return end if seen.status == end.status else stopped
    return None


def announce_end(run: Run, reserved_tokens: int | None = None) -> None:
    """Its `stop` is in the log.

    reserved_tokens: its history may be too long and is to be compressed; asked for in the same transaction, so that
    whoever has heard of the end finds the question.
    """
    reach("before_announce")
    if reserved_tokens is None:
        completion.announce(run.pk)
    else:
        with transaction.atomic():
            completion.announce(run.pk)
            compression_requests.request_after_run(run, reserved_tokens)
    reach("after_announce")


def release_run(held: Checkpoint) -> bool:
    """Save what there is and let another worker go on. False: it was stopped meanwhile, or is not ours."""
    run = held.run
    with transaction.atomic():
        if held.pieces:  # otherwise what an earlier attempt said is better than nothing
            _save(SAVE_PATIENTLY, run.owner or 0, [held])
        return run.release("handed_over")


def _save(statement: Statement[SavedRun], owner: int, held: Sequence[Checkpoint]) -> set[UUID]:
    reach("before_checkpoint")
    saved = statement.all(
        owner=owner,
        run=[one.run.pk for one in held],
        attempt=[one.run.attempt for one in held],
        seq=[one.seq for one in held],
        text=[one.text for one in held],
        reasoning=[one.reasoning for one in held],
    )
    reach("after_checkpoint")
    return {run.id for run in saved}
