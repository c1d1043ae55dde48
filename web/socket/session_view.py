"""What the database tells a subscriber: which runs a session has, where its events are, and how runs ended.

Synchronous; the socket's code calls it in threads.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import Q

from chat.log.progress import present_live_message
from chat.log.rebuilt import build_ending
from chat.models import ChatMessage, Run, Session, run_of
from chat.protocol import wire as p
from chat.protocol.errors import ApiError
from chat.protocol.states import LIVE, Status
from chat.protocol.tasks import DEFAULT_QUEUE

# Of one session at once: more is not a conversation, and cursors come from the client.
MAX_RUNS: Final = 200


@dataclass(frozen=True)
class RunRow:
    """One run as `subscribed` lists it."""

    run: str
    turn: str
    message: str
    model: str
    model_index: int
    status: str
    attempt: int
    last_seq: int | None  # None: it has not ended


@dataclass(frozen=True)
class SessionView:
    """n: number of the newest event when the runs were read, or shortly before."""

    n: int
    runs: list[RunRow]


def view(user: Any, session_id: UUID, named: Iterable[UUID]) -> SessionView:
    """The session's live runs and those named. Raises ApiError for a session that is not the user's."""
    # n before the runs: a turn that starts in between is then told twice rather than never.
    n = Session.objects.visible_to(user).filter(pk=session_id).values_list("latest_event", flat=True).first()
    if n is None:
        raise ApiError("session_not_found")
    wanted = Q(status__in=LIVE) | Q(pk__in=list(named))
    rows = Run.objects.filter(wanted, turn__session=session_id).order_by("created_at", "model_index")
    return SessionView(n, [_row(run) for run in rows[:MAX_RUNS]])


def _row(run: Run) -> RunRow:
    return RunRow(
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
class Substitute:
    """What stands for a log that is gone: lines to send, and the position after them."""

    attempt: int
    seq: int
    lines: list[bytes]
    has_ended: bool = False


def substitute(run_id: str) -> Substitute | None:
    """A snapshot, and `stop` if the run has ended. None: the run is gone, or has shown nothing yet."""
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
        return Substitute(cursor["attempt"], cursor["seq"], [p.encode(snapshot)])
    return Substitute(run.attempt, run.last_seq, build_ending(run), has_ended=True)


def ended_among(run_ids: Iterable[str]) -> set[str]:
    """Those that have ended or are gone: for them no packet will come any more."""
    wanted = set(run_ids)
    live = Run.objects.live().filter(pk__in=wanted).values_list("pk", flat=True)
    return wanted - {str(pk) for pk in live}


def queue_positions(run_ids: Iterable[str]) -> dict[str, int]:
    """1 for the run that is next among all queued ones of its queue; only those of `run_ids` that wait."""
    waiting = Run.objects.filter(status=Status.QUEUED).order_by("created_at", "model_index")
    order: dict[str, list[str]] = {}
    for pk, queue in waiting.values_list("pk", "model_config__queue"):
        order.setdefault(queue or DEFAULT_QUEUE, []).append(str(pk))
    wanted = set(run_ids)
    return {pk: place for pks in order.values() for place, pk in enumerate(pks, start=1) if pk in wanted}
