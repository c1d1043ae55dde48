"""Database reads of a subscription: a session's runs, its latest event, and replacements of lost logs.

They are synchronous; the subscription and the watchdog call them in threads.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Case, Q, When

from chat.log.cursor import Cursor
from chat.log.progress import present_live_message
from chat.log.rebuilt import build_ending
from chat.models import ChatMessage, Run, Session, run_of
from chat.protocol import wire as p
from chat.protocol.errors import ApiError
from chat.protocol.states import LIVE
from web.socket.replies import SubscribedRun

# The maximum number of runs in `subscribed`: clients send the cursors of ended runs.
MAX_RUNS: Final = 200


@dataclass(frozen=True)
class RunSnapshot:
    """The data of one run of a session, from its row."""

    run: str
    turn: str
    message: str
    model: str
    model_index: int
    status: str
    attempt: int
    last_seq: int | None  # None: the run has not ended


def describe_run(run: RunSnapshot, position: Cursor | None) -> SubscribedRun:
    """Return the run for the reply. position: the end of its log; None if the log is lost."""
    attempt, seq = position or Cursor(run.attempt, run.last_seq or 0)
    return SubscribedRun(run.run, run.turn, run.message, run.model, run.model_index, run.status, attempt, seq)


@dataclass(frozen=True)
class SessionSnapshot:
    """The runs of a session. n: the number of the latest event when they were read, or shortly before."""

    n: int
    runs: list[RunSnapshot]


def read_session(user: User, session_id: UUID, named: Iterable[UUID]) -> SessionSnapshot:
    """Return the session's live runs and the named ones. Raises ApiError if the user does not own the session."""
    # n is read before the runs: a turn that starts in between is then sent twice, instead of never.
    n = Session.objects.visible_to(user).filter(pk=session_id).values_list("latest_event", flat=True).first()
    if n is None:
        raise ApiError("session_not_found")
    wanted = Q(status__in=LIVE) | Q(pk__in=list(named))
    ended_last = Case(When(status__in=LIVE, then=0), default=1)
    rows = Run.objects.filter(wanted, turn__session=session_id).order_by(
        ended_last, "created_at", "model_index"
    )
    runs = sorted(rows[:MAX_RUNS], key=lambda run: (run.created_at, run.model_index))
    return SessionSnapshot(n, [_run_snapshot(run) for run in runs])


def _run_snapshot(run: Run) -> RunSnapshot:
    return RunSnapshot(
        str(run.pk),
        str(run.turn_id),
        str(run.message_id),
        run.model,
        run.model_index,
        run.status,
        run.attempt,
        run.last_seq,
    )


@dataclass(frozen=True)
class LogReplacement:
    """The lines that replace a lost or expired log, and the cursor after them.

    was_announced: the run has ended, and its `stop` was in the log.
    """

    attempt: int
    seq: int
    lines: list[bytes]
    was_announced: bool = False


def load_replacement(run_id: str) -> LogReplacement | None:
    """Return a snapshot, and `stop` if the run has ended; None if the run is deleted or has produced nothing."""
    message = ChatMessage.objects.select_related("run", "feedback").filter(run__id=run_id).first()
    run = run_of(message) if message else None
    if message is None or run is None:
        return None
    shape = present_live_message(message)
    if run.last_seq is None:
        cursor = shape["cursor"]
        if not cursor["seq"]:
            return None
        snapshot = p.Snapshot(run_id, cursor["attempt"], cursor["seq"], shape)
        return LogReplacement(cursor["attempt"], cursor["seq"], [p.encode(snapshot)])
    was_announced = run.announced_at is not None
    return LogReplacement(run.attempt, run.last_seq, build_ending(run), was_announced)


def find_live(session_id: str) -> list[str]:
    """Return the session's runs that have not ended."""
    live = Run.objects.live().filter(turn__session=UUID(session_id))
    return [str(pk) for pk in live.values_list("pk", flat=True)]


def find_ended(run_ids: Iterable[str]) -> set[str]:
    """Return the runs of `run_ids` that have ended or are deleted, and therefore produce no more packets."""
    wanted = set(run_ids)
    live = Run.objects.live().filter(pk__in=wanted).values_list("pk", flat=True)
    return wanted - {str(pk) for pk in live}
