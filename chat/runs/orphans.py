"""Ends runs that no worker executes: stopped while queued, left by a dead worker, or past their deadline.

The end takes the run's next attempt, which fences a worker that is still alive, and writes that attempt's
log: a snapshot of the stored message, and `stop`.
"""

import logging
from uuid import UUID

from django.db import transaction
from django.db.models import F
from redis.exceptions import RedisError

from chat.events.session_events import record_session_changed
from chat.loaders.rounds import load_cited
from chat.log.rebuilt import build_ending
from chat.log.stream import append_now, delete_logs, run_log
from chat.metrics import counters
from chat.models import Run, Session, Turn
from chat.models.outcome import RunOutcome
from chat.protocol import wire
from chat.protocol.states import TERMINAL, Status
from chat.runs.completion import announce, commit_end
from chat.transcript.finish import WHOLE

logger = logging.getLogger(__name__)


def end_orphan(run: Run, status: Status, error: wire.Error | None = None) -> bool:
    """End the run if it is still in the status and attempt it was read with; commit and announce the end.

    Returns False if another process moved it first. If Redis is unreachable, `stop` follows later.
    """
    end = RunOutcome(
        status,
        last_seq=1,  # `stop` follows a snapshot at seq 0, which also carries the error
        text=run.message.text,
        reasoning=run.message.reasoning,
        error=error,
        time_to_first_token_ms=run.time_to_first_token_ms,
        reasoning_ms=run.reasoning_ms,
        cycles=run.cycles,
        usage=run.usage,
        finish=WHOLE if status == Status.STOPPED else run.finish,
        citations=load_cited(run),
        hands_over=status == Status.COMPLETED,
    )
    with transaction.atomic():
        same = Run.objects.filter(pk=run.pk, attempt=run.attempt, status=run.status)
        ended = bool(same.update(attempt=F("attempt") + 1) and commit_end(run.pk, run.attempt + 1, end))
        if ended:
            Run.objects.filter(pk=run.pk).update(owner=None)
        else:
            transaction.set_rollback(True)
    if ended:
        counters.run_ended(run.model, end, counted=run.usage)
        publish_end(run.pk)
        if run.status == Status.WAITING:
            _tell_it_waits_no_more(run.turn)
    return ended


def _tell_it_waits_no_more(turn: Turn) -> None:
    """Record that a run of the turn does not wait for its user any more, unless the end of the turn has said so."""
    with transaction.atomic():
        session = Session.objects.filter(pk=turn.session_id).select_for_update(no_key=True).first()
        if session and Turn.objects.filter(pk=turn.pk, ended_at=None).exists():
            record_session_changed(session)


def publish_end(run_id: UUID) -> None:
    """Complete a committed end: append `stop` to the log, then announce it.

    Idempotent, also if a worker does the same: the append script skips packets that the log contains.
    """
    run = Run.objects.for_work().get(pk=run_id)
    if run.is_live:
        return  # announced meanwhile, and continued by its user
    try:
        _complete_log(run)
        announce(run.pk)
    except RedisError as error:
        logger.warning("run %s: its end is not announced yet: %s", run.pk, error)


def publish_end_above(run: Run, used: int) -> None:
    """Publish a committed end under a number above `used`, the attempt that owns the log.

    The database had lost the claim of that attempt (a failover to a replica that was behind), and gave its number again.
    """
    ended = Run.objects.filter(pk=run.pk, attempt=run.attempt, status__in=TERMINAL)
    if ended.update(attempt=used + 1, owner=None, last_seq=1, saved_seq=1):
        publish_end(run.pk)


def _complete_log(run: Run) -> None:
    # The end of a run without an owner is a claim of its own; that of a worker continues what the worker has appended.
    log = run_log(run.turn.session_id, run.pk).as_ending()._replace(claim="" if run.owner else "ended")
    lines = build_ending(run)
    first = (run.last_seq or 1) - len(lines) + 1
    reply = append_now(log, run.attempt, first, lines, base=first)
    if reply.outcome == "stale":
        publish_end_above(run, reply.last)
    elif reply.outcome == "gap":
        # The log has lost its tail: replace it by the snapshot, which contains what is missing.
        delete_logs(log)
        append_now(log, run.attempt, first, lines, base=first)
