"""Compression: one attempt to put a summary in place of the older part of a branch: its claim, its lease, its end."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now

from chat.infrastructure.log_context import MAX_REQUEST_ID_CHARACTERS
from chat.models.lease import COMPRESSION_LEASE, Leased, LeasedQuerySet
from chat.models.message import ChatMessage
from chat.models.model_config import ModelConfig
from chat.models.run_fields import UpstreamFailureFields
from chat.models.session import Session
from chat.models.sql.lease import CLAIM
from chat.protocol.states import Status
from chat.transcript.usage import ESTIMATED_TOKENS_HELP

# Doubling stops here: a branch is tried again some day.
MAX_BACKOFF = timedelta(days=1)


class CompressionStatus(models.TextChoices):
    """The status of a compression. nothing: there was nothing to summarise; refused: the text of the model was not
    acceptable."""

    QUEUED = Status.QUEUED.value
    RUNNING = Status.RUNNING.value
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    NOTHING = "nothing"


class TriggeredBy(models.TextChoices):
    AUTO = "auto"
    USER = "user"
    STAFF = "staff"


UNDER_WAY = (CompressionStatus.QUEUED, CompressionStatus.RUNNING)
UNSUCCESSFUL = (CompressionStatus.FAILED, CompressionStatus.REFUSED)


class CompressionQuerySet(LeasedQuerySet["Compression"]):
    # Mutators: each one UPDATE; the count of changed rows is the answer

    def claim(self, compression_id: UUID | str, owner: int) -> Compression | None:
        """Claim a compression that is queued or whose lease has expired; None if another worker has it or it has ended.

        One UPDATE on the database's clock, so exactly one of any number of deliveries gets it.
        """
        if CLAIM.first(compression=compression_id, owner=owner, lease=COMPRESSION_LEASE.lease) is None:
            return None
        return self.select_related("session", "parent", "leaf", "model_config").get(pk=compression_id)

    # Queries

    def under_way(self) -> CompressionQuerySet:
        return self.filter(status__in=UNDER_WAY)


def _count(**options: Any) -> Any:
    return models.IntegerField(null=True, blank=True, **options)


class Compression(UpstreamFailureFields, Leased):
    lease_times = COMPRESSION_LEASE

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="compressions")
    # The last user message of the branch at the time of the request: the parent of the summary.
    parent = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="compressions")
    # The tip of the branch that is measured; an answer to `parent`, or `parent` itself.
    leaf = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="+")
    model_config = models.ForeignKey(
        ModelConfig, null=True, on_delete=models.SET_NULL, related_name="+", verbose_name="model"
    )
    model = models.CharField(
        max_length=200, help_text="That answers on this branch; its window is the one to fit."
    )
    triggered_by = models.CharField(max_length=5, choices=TriggeredBy.choices)

    status = models.CharField(
        max_length=8, choices=CompressionStatus.choices, default=CompressionStatus.QUEUED
    )
    # The id of the request that caused it: its own request, or that of the turn after which it was due.
    request_id = models.CharField(max_length=MAX_REQUEST_ID_CHARACTERS, blank=True, default="", db_default="")
    created_at = models.DateTimeField(auto_now_add=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    # Consecutive failed or refused compressions of this branch, this one included, and the end of the back-off.
    in_vain = models.IntegerField(default=0)
    retry_at = models.DateTimeField(null=True, blank=True)
    error_code = models.CharField(max_length=40, blank=True, default="")

    tokens_before = _count(help_text="Of the history: the summary in force and the messages after it.")
    tokens_after = _count(help_text="Of the history with the new summary.")
    reserved_tokens = _count(help_text="Of the window, for everything that is not history.")
    history_window = _count(help_text="Tokens that are left for history.")
    is_history_cut = models.BooleanField(
        default=False,
        db_default=False,
        help_text="The run that requested it could not be shown its whole history, so it is due in any case.",
    )
    prompt_tokens = _count()
    completion_tokens = _count()
    estimated_tokens = _count(help_text=ESTIMATED_TOKENS_HELP)
    # By the prices of the summarising model; null: some price is unknown.
    cost = models.DecimalField(max_digits=18, decimal_places=9, null=True, blank=True)
    summary = models.ForeignKey(
        ChatMessage, null=True, blank=True, on_delete=models.SET_NULL, related_name="made_by"
    )

    objects = CompressionQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = [
            models.Index(fields=["session", "created_at"], name="compression_by_session"),
            models.Index(
                fields=["status", "lease_until"], name="compression_live", condition=Q(status__in=UNDER_WAY)
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["parent"], condition=Q(status__in=UNDER_WAY), name="one_live_compression_per_parent"
            ),
            models.CheckConstraint(
                condition=Q(status__in=CompressionStatus.values), name="compression_status_known"
            ),
            models.CheckConstraint(
                condition=Q(triggered_by__in=TriggeredBy.values), name="compression_trigger_known"
            ),
            models.CheckConstraint(
                condition=Q(status__in=UNDER_WAY, ended_at__isnull=True)
                | (~Q(status__in=UNDER_WAY) & Q(ended_at__isnull=False)),
                name="compression_has_an_end_iff_over",
            ),
            models.CheckConstraint(
                condition=~Q(status="running")
                | Q(owner__isnull=False, lease_until__isnull=False, attempt__gte=1),
                name="running_compression_has_a_lease",
            ),
            models.CheckConstraint(
                condition=Q(status__in=UNSUCCESSFUL) | Q(error_code=""),
                name="only_vain_compressions_have_an_error",
            ),
            models.CheckConstraint(
                condition=Q(attempt__gte=0, failures__gte=0, in_vain__gte=0),
                name="compression_counts_not_negative",
            ),
        ]

    def __str__(self) -> str:
        return f"compression {self.pk}"

    # Mutators: False if this attempt no longer holds the row

    def record_measurement(self, tokens_before: int, reserved_tokens: int, history_window: int) -> bool:
        return bool(
            Compression.objects.held_as(self).update(
                tokens_before=tokens_before, reserved_tokens=reserved_tokens, history_window=history_window
            )
        )

    def end(self, status: CompressionStatus, **fields: Any) -> bool:
        """Store the end; a failed or refused compression sets the back-off for its branch."""
        if status in UNSUCCESSFUL:
            backoff = timedelta(seconds=settings.COMPRESSION_BACKOFF_S * 2 ** min(self.in_vain, 20))
            fields |= {"in_vain": F("in_vain") + 1, "retry_at": Now() + min(backoff, MAX_BACKOFF)}
        elif status == CompressionStatus.DONE:
            fields |= {"in_vain": 0}
        held = Compression.objects.held_as(self)
        return bool(held.update(status=status, ended_at=Now(), lease_until=None, **fields))

    # Properties

    @property
    def saved_tokens(self) -> int | None:
        before: int | None = self.tokens_before
        after: int | None = self.tokens_after
        return None if before is None or after is None else before - after
