"""Requests compressions, records their start and end, and publishes `compression` events to the session.

Does not decide whether a history is too long, what the model is asked or whether a summary is good enough: the
compression app does. Web processes and workers reach it through these functions, by a queue message only.
"""

import logging
from collections.abc import Set
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
from chat.infrastructure import log_context
from chat.models import (
    ChatMessage,
    Compression,
    CompressionStatus,
    ModelConfig,
    Preferences,
    Role,
    Run,
    Session,
    TriggeredBy,
)
from chat.models.compression import UNDER_WAY, UNSUCCESSFUL
from chat.models.run_fields import upstream_columns
from chat.protocol.errors import NO_UPSTREAM_ERROR, ApiError, UpstreamError
from chat.protocol.tasks import COMPRESS_BRANCH, COMPRESSION_QUEUE
from chat.runs.task_queue import UNREACHABLE, send_message
from chat.turns import selection

logger = logging.getLogger(__name__)

# How many of a session's newest compressions are searched for one on the branch: older ones no longer matter.
LATEST = 50


@dataclass(frozen=True)
class CompressionUsage:
    """Tokens and cost of all requests of a compression. cost: None if a price is unknown."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: Decimal | None = None
    estimated_tokens: int = 0


@dataclass(frozen=True)
class NewSummary:
    """An accepted summary. tokens_after: of the history with this summary."""

    cutoff_id: UUID
    text: str
    token_count: int
    tokens_after: int


@dataclass(frozen=True)
class WantedCompression:
    """Facts that a run knows about its history.

    reserved_tokens: of the window, for everything that is not history; None: unknown.
    is_history_cut: a request of the run omitted a part of the branch.
    """

    reserved_tokens: int | None = None
    is_history_cut: bool = False


def request_compression(
    leaf: ChatMessage,
    model: ModelConfig,
    *,
    triggered_by: TriggeredBy,
    wanted: WantedCompression = WantedCompression(),
) -> Compression | None:
    """Queue a compression of the branch to `leaf`.

    Returns None if one is under way there, if the branch has no user message, or during the back-off after a failure,
    which only TriggeredBy.AUTO respects. model: the model that answers on the branch. Raises Session.DoesNotExist.
    """
    parent = leaf if leaf.role == Role.USER else leaf.parent
    if parent is None:
        return None
    with transaction.atomic():
        Session.objects.lock(leaf.session_id)
        latest = _latest_on_branch(leaf)
        if any(one.status in UNDER_WAY for one in latest):
            return None
        # Each model has its own view of the branch, and its own back-off.
        previous = next((one for one in latest if one.model == model.name), None)
        if previous and previous.is_waiting and triggered_by == TriggeredBy.AUTO:
            return None
        compression = Compression.objects.create(
            session_id=leaf.session_id,
            parent=parent,
            leaf=leaf,
            model_config=model,
            model=model.name,
            triggered_by=triggered_by,
            request_id=log_context.current_request_id(),
            reserved_tokens=wanted.reserved_tokens,
            is_history_cut=wanted.is_history_cut,
            in_vain=previous.in_vain if previous else 0,
        )
        transaction.on_commit(partial(enqueue, compression.pk))
    return compression


def request_by_hand(session: Session, triggered_by: TriggeredBy) -> bool:
    """Queue a compression of the current branch. Returns False if nothing is older than what must stay verbatim.

    Raises ApiError if the session was deleted.
    """
    leaf = ChatMessage.objects.tip_of(session)
    model = _model_of(leaf, session)
    summary = summaries.find_summary_for_branch(leaf, model)
    branch = [(pk, role) for pk, role in ChatMessage.objects.branch_to(leaf).values_list("pk", "role")]
    covered = [pk for pk, _ in branch].index(summary.cutoff) + 1 if summary else 0
    # The newest user message always stays verbatim.
    if sum(role == Role.USER for _, role in branch[covered:]) < 2:
        return False
    try:
        request_compression(leaf, model, triggered_by=triggered_by)
    except Session.DoesNotExist:
        raise ApiError("session_not_found") from None
    return True


def delete_summary(summary: ChatMessage) -> None:
    """Delete a summary; the messages that it covers are sent again until the next compression."""
    with transaction.atomic():
        Session.with_trash.lock_any(summary.session_id)
        summary.delete()
        _publish(summary.session_id, "deleted")


def request_after_run(run: Run, wanted: WantedCompression) -> None:
    """Queue a compression of an ended run's branch; its worker measures whether the history is too long."""
    try:
        if run.model_config is not None:
            leaf = ChatMessage.objects.place(run.message_id)
            request_compression(leaf, run.model_config, triggered_by=TriggeredBy.AUTO, wanted=wanted)
    except ObjectDoesNotExist:
        logger.info("run %s: its session was deleted, no compression is requested", run.pk)


def enqueue(compression_id: UUID) -> None:
    """Send the queue message. While the broker is unreachable, the sweeper sends it later."""
    try:
        send_message(COMPRESS_BRANCH, COMPRESSION_QUEUE, compression_id=str(compression_id))
    except UNREACHABLE as error:
        logger.warning("compression %s: not enqueued yet: %s", compression_id, error)


def start(held: Compression, *, tokens_before: int, reserved_tokens: int, history_window: int) -> bool:
    """Store the measurement and publish `started`, once. Returns False if this attempt no longer holds the row."""
    with transaction.atomic():
        is_held = held.record_measurement(tokens_before, reserved_tokens, history_window)
        if is_held and held.tokens_before is None:
            _publish(held.session_id, "started", tokens_before=tokens_before)
    held.tokens_before = tokens_before if is_held else held.tokens_before
    return is_held


def finish(held: Compression, new: NewSummary, usage: CompressionUsage) -> ChatMessage | None:
    """Store the summary and the end in one transaction.

    Returns None, with nothing written, if this attempt no longer holds the row.
    """
    with transaction.atomic():
        Session.with_trash.lock_any(held.session_id)
        if not held.end(CompressionStatus.DONE, tokens_after=new.tokens_after, **asdict(usage)):
            return None
        summary = summaries.store_summary(held.parent, new.cutoff_id, new.text, new.token_count)
        Compression.objects.filter(pk=held.pk).update(summary=summary)
        _publish(held.session_id, "done", tokens_before=held.tokens_before, tokens_after=new.tokens_after)
    return summary


def end_without_summary(
    held: Compression,
    status: CompressionStatus,
    error_code: str = "",
    usage: CompressionUsage = CompressionUsage(),
    upstream_error: UpstreamError = NO_UPSTREAM_ERROR,
) -> bool:
    """Store an end without a summary: nothing, refused or failed. Returns False if this attempt no longer holds it."""
    columns = upstream_columns(upstream_error)
    with transaction.atomic():
        has_ended = held.end(status, error_code=error_code, **asdict(usage), **columns)
        if has_ended and (status in UNSUCCESSFUL or held.tokens_before is not None):
            _publish(held.session_id, "failed", tokens_before=held.tokens_before)
    return has_ended


def _model_of(leaf: ChatMessage, session: Session) -> ModelConfig:
    """Return the model that wrote `leaf`, else the model that would answer next."""
    run = Run.objects.filter(message=leaf).select_related("model_config").first()
    if run and run.model_config:
        return run.model_config
    choices = selection.standing_choices(session, Preferences.objects.of_user(session.owner).models)
    return selection.choose_models(list(ModelConfig.objects.offered()), None, choices)[0]


def _latest_on_branch(leaf: ChatMessage) -> list[Any]:
    """Return the latest compressions whose parent is on the branch to `leaf`, newest first."""
    of_session = Compression.objects.filter(session=leaf.session_id)
    latest = list(of_session.annotate(is_waiting=Q(retry_at__gt=Now()))[:LATEST])
    if not latest:
        return []
    branch: Set[UUID] = set(ChatMessage.objects.branch_to(leaf).values_list("pk", flat=True))
    return [one for one in latest if one.parent_id in branch]


def _publish(session_id: UUID, status: str, **tokens: int | None) -> None:
    known = {name: count for name, count in tokens.items() if count is not None}
    session_events.record(Session(pk=session_id), "compression", {"status": status, **known})
