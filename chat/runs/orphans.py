"""Ending runs that nobody executes: a queued one that is stopped, one whose worker died, one out of time.

Whoever does it takes the run's next attempt, which fences a worker that is not as dead as it seemed, and writes
the whole log of that attempt: what is kept of the run, and `stop`.
"""

import logging
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.db.models import F
from redis.exceptions import RedisError

from chat import packets, protocol
from chat.log.joining import Cursor
from chat.models import ChatMessage, Run
from chat.runs.ending import STOP_REASONS, End, announce, commit_end
from chat.shapes import message_shape
from chat.states import Status
from chat.stream import append_now, position_now, run_log

logger = logging.getLogger(__name__)

# `error`, where there is one, comes before `stop`.
STOP_SEQ = 1


@dataclass(frozen=True)
class Orphan:
    """A run as it was seen; it is ended only if it is still in that state and attempt."""

    run: Run

    def end(self, status: Status, error: protocol.Error | None = None) -> bool:
        """Commit and announce the end. False: somebody was faster. Redis being away only delays `stop`."""
        run = self.run
        end = End(
            status,
            last_seq=STOP_SEQ + (error is not None),
            text=run.message.text,
            reasoning=run.message.reasoning,
            error=error,
            time_to_first_token_ms=run.time_to_first_token_ms,
            cycles=run.cycles,
        )
        with transaction.atomic():
            same = Run.objects.filter(pk=run.pk, attempt=run.attempt, status=run.status)
            ended = bool(same.update(attempt=F("attempt") + 1) and commit_end(run.pk, run.attempt + 1, end))
            if not ended:
                transaction.set_rollback(True)
        if ended:
            say_end(run.pk)
        return ended


def say_end(run_id: Any) -> None:
    """Complete an end that was committed: its `stop` into the log, then the announcement. May be repeated."""
    run = Run.objects.for_work().get(pk=run_id)
    try:
        if not _log_is_complete(run):
            _write_log_anew(run)
        announce(run.pk)
    except RedisError as error:
        logger.warning("run %s: its stop is not announced yet: %s", run.pk, error)


def _log_is_complete(run: Run) -> bool:
    """Whether the log ends with `stop`, if need be by adding it to a log that lacks nothing else."""
    log = run_log(run.turn.session_id, run.pk)
    last_seq = run.last_seq or 0
    held = position_now(log)
    if held == Cursor(run.attempt, last_seq):
        return True
    if held != Cursor(run.attempt, last_seq - 1):
        return False
    return append_now(log, run.attempt, last_seq, [_lines(run)[-1]]).outcome == "ok"


def _write_log_anew(run: Run) -> None:
    """The log of this attempt was never written, or lost: a snapshot, then how it ended.

    An attempt that has been seen cannot start again under its number, so a log that holds some of it gets the
    next one.
    """
    log = run_log(run.turn.session_id, run.pk)
    held = position_now(log)
    if (held is not None and held.attempt >= run.attempt) or run.last_seq != len(_ending(run)):
        attempt = max(run.attempt, held.attempt if held else 0) + 1
        Run.objects.filter(pk=run.pk, attempt=run.attempt).update(attempt=attempt, last_seq=len(_ending(run)))
        run.refresh_from_db(fields=["attempt", "last_seq"])
    append_now(log, run.attempt, 0, _lines(run), base=0)


def _lines(run: Run) -> list[bytes]:
    session, name = str(run.turn.session_id), str(run.pk)
    message = ChatMessage.objects.select_related("run").get(pk=run.message_id)
    entries: list[protocol.LogEntry] = [protocol.Snapshot(name, run.attempt, 0, message_shape(message))]
    first = (run.last_seq or 0) - len(_ending(run)) + 1
    for seq, (placement, obj) in enumerate(_ending(run), start=first):
        entries.append(protocol.Packet(session, name, run.attempt, seq, placement, obj))
    return [protocol.encode(entry) for entry in entries]


def _ending(run: Run) -> list[packets.Placed]:
    blocks = packets.Blocks(model_index=run.model_index)
    placed: list[packets.Placed] = []
    if run.error_code:
        placed += blocks.error(run.error_code, run.error_message, retryable=run.error_retryable)
    return [*placed, *blocks.stop(STOP_REASONS[Status(run.status)])]
