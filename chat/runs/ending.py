"""How a run ends, exactly once: commit_end, then `stop` into its log, then announce.

Used by whoever ends it: its worker, or the web while it is queued. A crash between the steps loses nothing:
what was committed can be announced later from the database alone. The log itself is chat/stream.py.
"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from chat import events
from chat.models import ChatMessage, Run, Session, Turn
from chat.protocol import Error, StopReason
from chat.runs import waiting
from chat.states import STOP_REASONS, Status
from chat.tokens import count_tokens


@dataclass(frozen=True)
class Usage:
    """What the upstream reported; None where it said nothing."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True)
class End:
    """What is saved of a run when it ends."""

    status: Status  # a terminal one
    last_seq: int  # the seq its `stop` has or will have
    text: str = ""
    reasoning: str = ""
    error: Error | None = None  # only with Status.FAILED
    usage: Usage = field(default_factory=Usage)
    time_to_first_token_ms: int | None = None
    cycles: int = 0

    @property
    def stop_reason(self) -> StopReason:
        return STOP_REASONS[self.status]


def commit_end(run_id: Any, attempt: int, end: End) -> bool:
    """Save the end in one transaction, fenced by `attempt`.

    False: nothing was written, because another attempt began, the run has ended, or the state machine forbids
    the move. A run that is `stopping` can only end as stopped: a worker that finds it so offers that end.
    """
    token_count = count_tokens(end.text)
    with transaction.atomic():
        moved = Run.objects.filter(pk=run_id, attempt=attempt).move(end.status, **_run_fields(end))
        if moved:
            ChatMessage.objects.filter(run=run_id).update(
                text=end.text, reasoning=end.reasoning, token_count=token_count
            )
    return bool(moved)


def announce(run_id: Any) -> None:
    """Say that a run has ended; called when its `stop` is in the log. Repeating it changes nothing.

    The last run of a turn ends the turn: `overall_stop` is recorded once and pushed after the commit. The
    session is locked first, as everywhere, so two runs that end together decide one after the other.
    """
    with transaction.atomic():
        session = Session.objects.select_for_update(no_key=True).filter(turns__runs=run_id).first()
        if session is None:
            return  # deleted meanwhile: nobody is left to tell
        turn = Turn.objects.select_for_update(no_key=True).get(runs=run_id)
        Run.objects.filter(pk=run_id, ended_at__isnull=False, announced_at__isnull=True).update(
            announced_at=Now()
        )
        if turn.ended_at is None and not turn.runs.filter(announced_at__isnull=True).exists():
            _end_turn(session, turn)


def overall_stop_reason(statuses: Iterable[str]) -> StopReason:
    """user_cancelled if any run was stopped, else error if all failed, else finished."""
    ended = set(statuses)
    if Status.STOPPED in ended:
        return "user_cancelled"
    return "error" if ended == {Status.FAILED} else "finished"


def _end_turn(session: Session, turn: Turn) -> None:
    reason = overall_stop_reason(turn.runs.values_list("status", flat=True))
    Turn.objects.filter(pk=turn.pk).update(ended_at=Now())
    events.record(session, "overall_stop", {"turn": str(turn.pk), "stop_reason": reason})
    events.push_on_commit(session.pk)
    waiting.release(turn)


def _run_fields(end: End) -> dict[str, Any]:
    fields: dict[str, Any] = {
        "ended_at": Now(),
        "lease_until": None,
        "last_seq": end.last_seq,
        "saved_seq": end.last_seq,
        "dynamic_context": "",  # was for this run only
        "time_to_first_token_ms": end.time_to_first_token_ms,
        "cycles": end.cycles,
        **asdict(end.usage),
    }
    if end.error:
        fields |= {
            "error_code": end.error.code,
            "error_message": end.error.message,
            "error_retryable": end.error.retryable,
        }
    return fields
