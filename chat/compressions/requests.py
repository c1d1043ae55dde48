"""How a compression is asked for, begins and ends, and what a session's sockets hear of it.

What the model is asked, and whether its summary is good enough, is not decided here.
"""

import logging
from collections.abc import Set
from contextlib import suppress
from dataclasses import asdict, dataclass
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

from django.core.exceptions import ObjectDoesNotExist
from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now

from chat.compressions import summaries
from chat.events import session_events
from chat.models import (
    ChatMessage,
    Compression,
    CompressionStatus,
    ModelConfig,
    Role,
    Run,
    Session,
    TriggeredBy,
)
from chat.models.compression import IN_VAIN, UNDER_WAY
from chat.protocol.tasks import COMPRESS_BRANCH, COMPRESSION_QUEUE
from chat.runs.task_queue import UNREACHABLE, send
from chat.turns import selection

logger = logging.getLogger(__name__)

# Of a session's compressions, those that are looked at: what came before does not say how things stand now.
LATEST = 50


@dataclass(frozen=True)
class CompressionUsage:
    """What a compression took, all passes together; cost: None where some price is unknown."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: Decimal | None = None


@dataclass(frozen=True)
class NewSummary:
    """A summary that was accepted. tokens_after: of the history with it."""

    cutoff_id: Any
    text: str
    token_count: int
    tokens_after: int


def request_compression(
    leaf: ChatMessage,
    model: ModelConfig,
    *,
    triggered_by: TriggeredBy,
    reserved_tokens: int | None = None,
) -> Compression | None:
    """Have the branch to `leaf` compressed. None: that is under way, or came to nothing too short a while ago.

    model: that answers there. Who asks by hand does not wait for the back-off. Raises Session.DoesNotExist.
    """
    parent = leaf if leaf.role == Role.USER else leaf.parent
    if parent is None:
        return None
    with transaction.atomic():
        Session.objects.lock(leaf.session_id)
        latest = _latest_on(leaf)
        if any(one.status in UNDER_WAY for one in latest):
            return None
        before = latest[0] if latest else None
        if before and before.is_waiting and triggered_by == TriggeredBy.AUTO:
            return None
        asked = Compression.objects.create(
            session_id=leaf.session_id,
            parent=parent,
            leaf=leaf,
            model_config=model,
            model=model.name,
            triggered_by=triggered_by,
            reserved_tokens=reserved_tokens,
            in_vain=before.in_vain if before else 0,
        )
        transaction.on_commit(partial(enqueue, asked.pk))
    return asked


def request_by_hand(session: Session, triggered_by: TriggeredBy) -> bool:
    """Have the current branch compressed. True: it will be, or is being; False: nothing is older than what stays."""
    leaf = ChatMessage.objects.tip_of(session)
    summary = summaries.find_summary_for_branch(leaf)
    shown = [(pk, role) for pk, role in ChatMessage.objects.branch_to(leaf).values_list("pk", "role")]
    covered = [pk for pk, _ in shown].index(summary.cutoff) + 1 if summary else 0
    # The newest question stays in any case.
    if sum(role == Role.USER for _, role in shown[covered:]) < 2:
        return False
    run = Run.objects.filter(message=leaf).select_related("model_config").first()
    model = run.model_config if run else None
    if model is None:
        model = selection.choose_models(list(ModelConfig.objects.offered()), None, session.agent)[0]
    request_compression(leaf, model, triggered_by=triggered_by)
    return True


def request_after_run(run: Run, reserved_tokens: int) -> None:
    """A run has ended, and its history may be too long. reserved_tokens: of its window, for what is not history."""
    with suppress(ObjectDoesNotExist):  # deleted meanwhile
        if run.model_config:
            leaf = ChatMessage.objects.place(run.message_id)
            request_compression(
                leaf, run.model_config, triggered_by=TriggeredBy.AUTO, reserved_tokens=reserved_tokens
            )


def enqueue(compression_id: UUID) -> None:
    """Wake a worker. With the broker away the sweeper does it later."""
    try:
        send(COMPRESS_BRANCH, COMPRESSION_QUEUE, compression_id=str(compression_id))
    except UNREACHABLE as error:
        logger.warning("compression %s is not enqueued yet: %s", compression_id, error)


def start(held: Compression, *, tokens_before: int, reserved_tokens: int, history_window: int) -> bool:
    """There is something to summarise; its sockets hear it once. False: it is not held any more."""
    with transaction.atomic():
        is_held = held.measured(tokens_before, reserved_tokens, history_window)
        if is_held and held.tokens_before is None:
            _tell(held, "started", tokens_before=tokens_before)
    held.tokens_before = tokens_before if is_held else held.tokens_before
    return is_held


def finish(held: Compression, made: NewSummary, spent: CompressionUsage) -> ChatMessage | None:
    """Store the summary and the end together. None: it is not held any more, and nothing is written."""
    with transaction.atomic():
        Session.objects.lock(held.session_id)
        if not held.end(CompressionStatus.DONE, tokens_after=made.tokens_after, **asdict(spent)):
            return None
        summary = summaries.store_summary(held.parent, made.cutoff_id, made.text, made.token_count)
        Compression.objects.filter(pk=held.pk).update(summary=summary)
        _tell(held, "done", tokens_before=held.tokens_before, tokens_after=made.tokens_after)
    return summary


def end_without_summary(
    held: Compression,
    status: CompressionStatus,
    error_code: str = "",
    spent: CompressionUsage = CompressionUsage(),
) -> bool:
    """End it without a summary: nothing, refused or failed. False: it is not held any more."""
    with transaction.atomic():
        has_ended = held.end(status, error_code=error_code, **asdict(spent))
        if has_ended and (status in IN_VAIN or held.tokens_before is not None):
            _tell(held, "failed", tokens_before=held.tokens_before)
    return has_ended


def _latest_on(leaf: ChatMessage) -> list[Any]:
    """The latest compressions whose parent is on the branch to `leaf`, newest first."""
    of_session = Compression.objects.filter(session=leaf.session_id)
    latest = list(of_session.annotate(is_waiting=Q(retry_at__gt=Now()))[:LATEST])
    if not latest:
        return []
    branch: Set[UUID] = set(ChatMessage.objects.branch_to(leaf).values_list("pk", flat=True))
    return [one for one in latest if one.parent_id in branch]


def _tell(held: Compression, status: str, **tokens: int | None) -> None:
    known = {name: count for name, count in tokens.items() if count is not None}
    session_events.record(Session(pk=held.session_id), "compression", {"status": status, **known})
