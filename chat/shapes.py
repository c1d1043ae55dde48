"""How sessions, messages, runs and turns look to clients: plain JSON values, the same over REST and the socket.

Lists are built with a constant number of queries, however long the branch.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from django.db.models import Exists, OuterRef, QuerySet, Subquery

from chat.attached import attached
from chat.log.live import Progress, progress
from chat.models import Agent, ChatMessage, ModelConfig, Role, Run, Session, Turn
from chat.states import Status

Shape = dict[str, Any]
# A run's life, in order.
RUN_MOMENTS: Final = (
    "created_at", "queued_at", "claimed_at", "beat_at", "lease_until", "deadline", "ended_at", "announced_at",
)  # fmt: skip


def readable_sessions(sessions: QuerySet[Session]) -> QuerySet[Session]:
    """With what session_shape needs."""
    roots = ChatMessage.objects.filter(session=OuterRef("pk"), role=Role.ROOT)
    turns = Turn.objects.filter(session=OuterRef("pk"), ended_at=None)
    marked = sessions.annotate(is_answering=Exists(turns))  # type: ignore[no-redef]
    return marked.annotate(root_id=Subquery(roots.values("pk")))


def session_shape(session: Any) -> Shape:
    """session: from readable_sessions."""
    return {
        "id": str(session.pk),
        "project": _id(session.project_id),
        "knowledge_bases": [],
        "while_answering": session.while_answering,
        "root": str(session.root_id),
        "leaf": str(session.leaf_id or session.root_id),
        "created_at": iso(session.created_at),
        **listed_shape(session),
    }


def listed_shape(session: Session) -> Shape:
    """What a list shows of a session and what changes there: as `session_changed` tells it."""
    return {
        "title": session.title,
        "agent": _id(session.agent_id),
        "n": session.latest_event,
        "updated_at": iso(session.updated_at),
        "is_answering": session.is_answering,
        "is_unread": session.is_unread,
    }


def model_shape(model: ModelConfig) -> Shape:
    return {
        "name": model.name,
        "context_window": model.context_window,
        "supports_vision": model.supports_vision,
        "supports_tools": model.supports_tools,
        "is_default": model.is_default,
        "is_demo": model.is_demo,
    }


def agent_shape(agent: Agent) -> Shape:
    return {
        "id": str(agent.pk),
        "name": agent.name,
        "prompt": agent.prompt,
        "replaces_system_prompt": agent.replaces_system_prompt,
        "reminder": agent.reminder,
        "tools": agent.tools,
        "models": agent.models,
        "knowledge_bases": [],
        "context_layout": agent.context_layout,
        "created_at": iso(agent.created_at),
        "updated_at": iso(agent.updated_at),
    }


def message_shape(message: ChatMessage) -> Shape:
    return message_shapes([message])[0]


def message_shapes(messages: Iterable[ChatMessage]) -> list[Shape]:
    """messages: user messages and answers, with `run` and `feedback` joined where there are many."""
    wanted = list(messages)
    siblings = _siblings(wanted)
    others = attached(wanted)
    return [
        _message(message, others[message.pk]) | {"siblings": siblings[message.parent_id, message.role]}
        for message in wanted
    ]


def node_shape(message: ChatMessage) -> Shape:
    """One line of the tree; message.run joined."""
    run = message.answered_by
    shape = {
        "id": str(message.pk),
        "parent": _id(message.parent_id),
        "role": message.role,
        "status": run.status if run else Status.COMPLETED,
        "latest_child": _id(message.latest_child_id),
        "model": run.model if run else None,
        "sent_at": iso(message.sent_at),
    }
    if message.role == Role.SUMMARY:
        shape["last_summarized_message"] = _id(message.last_summarized_message_id)
    return shape


def run_shape(run: Run) -> Shape:
    shape = {
        "id": str(run.pk),
        "turn": str(run.turn_id),
        "message": str(run.message_id),
        "model": run.model,
        "model_index": run.model_index,
        "status": run.status,
        "attempt": run.attempt,
        "failures": run.failures,
        # A string: JavaScript's numbers are too small for it.
        "owner": str(run.owner) if run.owner is not None else None,
        "usage": {
            "prompt_tokens": run.prompt_tokens,
            "completion_tokens": run.completion_tokens,
            "cached_tokens": run.cached_tokens,
            "reasoning_tokens": run.reasoning_tokens,
        },
        "cost": None if run.cost is None else float(run.cost),
        "time_to_first_token_ms": run.time_to_first_token_ms,
        "reasoning_ms": run.reasoning_ms,
        "cycles": run.cycles,
        **{name: _moment(getattr(run, name)) for name in RUN_MOMENTS},
    }
    return shape | _error(run)


def iso(moment: datetime) -> str:
    """ISO 8601, UTC."""
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _moment(moment: datetime | None) -> str | None:
    return iso(moment) if moment else None


def _message(message: ChatMessage, others: Shape) -> Shape:
    """With what hangs on it, which has been read before: what is live is told up to there."""
    shape: Shape = {
        "id": str(message.pk),
        "parent": _id(message.parent_id),
        "role": message.role,
        "text": message.text,
        "status": Status.COMPLETED,
        "sent_at": iso(message.sent_at),
        "token_count": message.token_count,
    }
    if message.reasoning:
        shape["reasoning"] = message.reasoning
    run = message.answered_by
    if run:
        shape |= _answer(message, run, len(others["tool_calls"]))
    feedback = getattr(message, "feedback", None)
    if feedback:
        shape["feedback"] = {"is_positive": feedback.is_positive, "text": feedback.text}
    return others | shape


def _answer(message: ChatMessage, run: Run, calls: int) -> Shape:
    shape: Shape = {"status": run.status, "model": run.model, "run": str(run.pk), **_error(run)}
    if run.is_live:
        run.message = message
        shape |= _so_far(progress(run, calls))
    elif run.reasoning_ms is not None:
        shape["reasoning_ms"] = run.reasoning_ms
    return shape


def _so_far(told: Progress) -> Shape:
    shown, cursor = told.shown, told.cursor
    return {
        "text": shown.text,
        "cursor": {"attempt": cursor.attempt, "seq": cursor.seq},
        "citations": shown.citations,
        **({"reasoning": shown.reasoning} if shown.reasoning else {}),
        **({} if shown.reasoning_ms is None else {"reasoning_ms": shown.reasoning_ms}),
    }


def _error(run: Run) -> Shape:
    if not run.error_code:
        return {}
    return {
        "error": {
            "code": run.error_code,
            "message": run.error_message,
            "retryable": run.error_retryable,
        }
    }


def _siblings(messages: Sequence[ChatMessage]) -> dict[tuple[UUID | None, str], list[str]]:
    """Ids by (parent, role), oldest first."""
    parents = {message.parent_id for message in messages}
    rows = ChatMessage.objects.filter(parent__in=parents).order_by("sent_at", "id")
    siblings: dict[tuple[UUID | None, str], list[str]] = defaultdict(list)
    for pk, parent, role in rows.values_list("id", "parent_id", "role"):
        siblings[parent, role].append(str(pk))
    return siblings


def _id(pk: UUID | None) -> str | None:
    return str(pk) if pk else None
