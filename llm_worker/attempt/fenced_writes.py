"""Saves checkpoints, commits the end of a run, or releases it; writes of a superseded attempt change nothing.

All functions run in a database thread and are idempotent: callers retry while Postgres is unreachable.
"""

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import NamedTuple
from uuid import UUID

from django.db import DataError, IntegrityError, transaction
from django.db.models import F
from django.db.models.functions import Greatest, Now

from chat.compressions import requests as compression_requests
from chat.compressions.requests import WantedCompression
from chat.events.session_events import record_session_changed
from chat.infrastructure.fault_points import reach
from chat.models import Approval, CitedDocument, Run, Session
from chat.models.approval import Decision
from chat.models.outcome import RunOutcome
from chat.models.sql.run_records import SetupParameters, store_setups
from chat.models.sql.statements import Statement, literals
from chat.protocol.errors import NO_UPSTREAM_ERROR
from chat.protocol.states import HELD as HELD_STATUSES
from chat.protocol.states import TERMINAL, Status
from chat.protocol.strict_json import storable
from chat.runs import completion, turn_parts
from chat.transcript.answer_settings import AnswerSetup
from chat.transcript.entries import Document
from chat.transcript.finish import Finish
from chat.transcript.usage import TokenUsage

logger = logging.getLogger(__name__)


class SavedRun(NamedTuple):
    id: UUID


# Saves the rows of any number of runs and messages at once: with the ORM, checkpoints cost more than the stream.
# Parameters: owner, and the arrays run, attempt, seq, text, reasoning and those of SetupParameters. Plan: primary keys
# alone.
_SAVE = f"""
    WITH given AS (
        SELECT * FROM unnest(
            %(run)s::uuid[], %(attempt)s::int[], %(seq)s::int[], %(text)s::text[], %(reasoning)s::text[],
            %(version)s::text[], %(content)s::text[], %(agent)s::uuid[], %(agent_name)s::text[], %(options)s::text[]
        ) AS g(run, attempt, seq, text, reasoning, version, content, agent, agent_name, options)
    ), held AS (
        SELECT run.id, run.message_id, given.*
        FROM chat_run AS run JOIN given ON run.id = given.run AND run.attempt = given.attempt
        WHERE run.owner = %(owner)s AND run.status IN ({literals(HELD_STATUSES)}) AND run.saved_seq <= given.seq
        ORDER BY run.id FOR NO KEY UPDATE OF run {{locked}}
    ), marked AS (
        UPDATE chat_run AS run SET saved_seq = held.seq FROM held WHERE run.id = held.id
    ), {store_setups("given", "held")}
    UPDATE chat_chatmessage AS message SET text = held.text, reasoning = held.reasoning
    FROM held WHERE message.id = held.message_id RETURNING held.id
"""  # noqa: S608  constants alone
# A checkpoint of many runs does not wait for a run that is being ended or extended right now: the next one saves it.
SAVE_SKIPPING_LOCKED = Statement(_SAVE.format(locked="SKIP LOCKED"), SavedRun)
SAVE_WAITING = Statement(_SAVE.format(locked=""), SavedRun)


@dataclass(frozen=True)
class Checkpoint:
    """The text and reasoning of an attempt up to its packet `seq`. pieces: the number of deltas they consist of.

    setup: the setup of the answer; None if it is stored already.  cited: all documents that the text links to; empty if
    they are stored already.
    """

    run: Run
    seq: int
    text: str
    reasoning: str
    pieces: int
    setup: AnswerSetup | None = None
    cited: Sequence[Document] = ()


def save_checkpoints(owner: int, checkpoints: Sequence[Checkpoint]) -> set[UUID]:
    """Save checkpoints of this owner's runs and return the ids saved. Other runs are locked or have another owner."""
    return _save(SAVE_SKIPPING_LOCKED, owner, checkpoints)


def save_checkpoint(owner: int, checkpoint: Checkpoint) -> None:
    """Save one checkpoint in the caller's transaction, which has locked the run."""
    _save(SAVE_WAITING, owner, [checkpoint])


def finish_run(run: Run, end: RunOutcome) -> RunOutcome | None:
    """Commit the end and return the end that was committed; None if this attempt is superseded."""
    reach("before_finish")
    try:
        is_committed = completion.commit_end(run.pk, run.attempt, end, run.owner)
    except (DataError, IntegrityError, UnicodeError):
        # A retry would be refused again, and the run would be lost with its text.
        logger.exception("run %s: the database refuses its end, which is stored without details", run.pk)
        end = _without_details(end)
        is_committed = completion.commit_end(run.pk, run.attempt, end, run.owner)
    if is_committed:
        reach("after_finish")
        return end
    seen = Run.objects.filter(pk=run.pk, attempt=run.attempt, owner=run.owner).first()
    if seen is None:
        return None
    # The run may have been stopped while the last text was written: a stopping run can only end as stopped.
    stopped = replace(
        end,
        status=Status.STOPPED,
        error=None,
        upstream_error=NO_UPSTREAM_ERROR,
        last_seq=end.last_seq - bool(end.error),
    )
    if seen.status == Status.STOPPING:
        return stopped if completion.commit_end(run.pk, run.attempt, stopped, run.owner) else None
    if seen.status in TERMINAL:
        # Committed by an earlier call whose reply was lost with the connection.
        return end if seen.status == end.status else stopped
    return None


def _without_details(end: RunOutcome) -> RunOutcome:
    """Return the end with its text, made storable, but without upstream error, usage and other details."""
    return RunOutcome(
        end.status,
        end.last_seq,
        text=storable(end.text),
        reasoning=storable(end.reasoning),
        error=end.error,
        finish=Finish(end.finish.reason if end.finish.is_cut else ""),
        hands_over=end.hands_over,
    )


def announce_end(run: Run, wanted: WantedCompression | None = None) -> None:
    """Record that the run's `stop` is in the log.

    wanted: the compression to request if the history may be too long, in the same transaction: a client that was told
    of the end finds the request.
    """
    reach("before_announce")
    if wanted is None:
        completion.announce(run.pk)
    else:
        with transaction.atomic():
            completion.announce(run.pk)
            compression_requests.request_after_run(run, wanted)
    reach("after_announce")


def release_run(checkpoint: Checkpoint, used: int | None = None) -> bool:
    """Save the text and release the run for another worker. Returns False if it was stopped meanwhile or superseded.

    used: the attempt that owns the log, so that the next claim takes a number above it.
    """
    run = checkpoint.run
    with transaction.atomic():
        if checkpoint.pieces:  # otherwise the text of an earlier attempt is kept
            _save(SAVE_WAITING, run.owner or 0, [checkpoint])
        if used is None:
            return run.release("handed_over")
        return run.release("number_used", attempt=Greatest(F("attempt"), used))


class Waiting(StrEnum):
    """The state of a run whose calls need approval, after its attempt let it wait."""

    WAITING = "waiting"
    DECIDED = "decided"  # meanwhile: it is queued
    STOPPING = "stopping"
    LOST = "lost"


def let_wait(checkpoint: Checkpoint, usage: TokenUsage, cycles: int) -> Waiting:
    """Save the text and let the run wait for its user without a worker.

    A retry after a lost reply returns LOST, and the sweeper wakes a worker if the run is queued.
    """
    run = checkpoint.run
    counted = {**usage._asdict(), "cycles": cycles}
    with transaction.atomic():
        # Before the run, as everywhere. None in the trash, where the sweeper stops the run.
        session = Session.objects.filter(pk=run.turn.session_id).select_for_update(no_key=True).first()
        ours = Run.objects.filter(pk=run.pk, attempt=run.attempt, owner=run.owner)
        held = ours.select_for_update(no_key=True, of=("self",)).first()
        if held is None or held.status != Status.RUNNING:
            return Waiting.STOPPING if held and held.status == Status.STOPPING else Waiting.LOST
        _save(SAVE_WAITING, run.owner or 0, [checkpoint])
        waiting = Approval.objects.filter(tool_call__run=run.pk)
        # The user may have signed in while the server refused the call, before the call waited.
        waiting.signed_in().update(decision=Decision.SIGNED_IN, decided_at=Now())
        if waiting.undecided().exists():
            nobody = {"owner": None, "lease_until": None, "queued_at": Now()}
            ours.move(Status.WAITING, "approval_required", **nobody, **counted)
            if session:
                turn_parts.on_wait(run)
                record_session_changed(session)
            return Waiting.WAITING
        ours.requeue("decided", **counted)
        return Waiting.DECIDED


def owns_run(run: Run) -> bool:
    """Return whether the attempt still owns the run. Locks its row until the end of the transaction."""
    ours = Run.objects.filter(pk=run.pk, attempt=run.attempt, owner=run.owner, status__in=HELD_STATUSES)
    return bool(ours.select_for_update(no_key=True, of=("self",)).values_list("pk"))


def _save(statement: Statement[SavedRun], owner: int, checkpoints: Sequence[Checkpoint]) -> set[UUID]:
    reach("before_checkpoint")
    citing = [one for one in checkpoints if one.cited]
    # Without citations, which are rows of their own, one statement is a transaction.
    with transaction.atomic() if citing else nullcontext():
        saved = _save_texts(statement, owner, checkpoints)
        for one in citing:
            if one.run.pk in saved:
                CitedDocument.objects.keep(one.run.message_id, one.cited)
    reach("after_checkpoint")
    return saved


def _save_texts(statement: Statement[SavedRun], owner: int, checkpoints: Sequence[Checkpoint]) -> set[UUID]:
    setups = [SetupParameters.from_setup(one.setup) for one in checkpoints]
    saved = statement.all(
        owner=owner,
        run=[one.run.pk for one in checkpoints],
        attempt=[one.run.attempt for one in checkpoints],
        seq=[one.seq for one in checkpoints],
        text=[one.text for one in checkpoints],
        reasoning=[one.reasoning for one in checkpoints],
        **{name: [getattr(one, name) for one in setups] for name in SetupParameters._fields},
    )
    return {run.id for run in saved}
