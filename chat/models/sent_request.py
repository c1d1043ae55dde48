"""SentRequest: the messages that a run sent to its model in one cycle, stored for some hours for the admin."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from chat.models.run import Run
from chat.models.sql.sent_requests import STORE
from chat.models.tool_call import ToolCall


class UnsavedRequest(NamedTuple):
    """The columns of one row except its run and attempt. messages, parts: JSON, for the messages after the first
    `common`; account: JSON. sent_at: UTC."""

    cycle: int
    tool_call: UUID | None
    common: int
    messages: str
    tokens: int
    prefix_share: float
    sent_at: datetime
    parts: str
    account: str


class RequestOfRun(NamedTuple):
    run: UUID
    attempt: int
    request: UnsavedRequest


class SentRequestQuerySet(models.QuerySet["SentRequest"]):
    # Mutators

    def store(self, rows: Sequence[RequestOfRun]) -> set[UUID]:
        """Store requests of attempts; returns the runs that still exist. Idempotent."""
        columns = {name: [getattr(row.request, name) for row in rows] for name in UnsavedRequest._fields}
        runs = [row.run for row in rows]
        return {row.id for row in STORE.all(run=runs, attempt=[row.attempt for row in rows], **columns)}

    def purge(self, older_than: timedelta, *, runs: int) -> int:
        """Delete the requests of at most this many runs that are older; returns how many rows were deleted.

        A run's rows are deleted together, since each one builds on the one before.
        """
        old = self.filter(sent_at__lte=Now() - older_than).order_by().values("run").distinct()[:runs]
        return self.filter(run__in=old).delete()[0]


class SentRequest(models.Model):
    """tool_call is set for requests of an agent tool, null for those of the attempt; each numbers its cycles from 1."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="sent_requests")
    attempt = models.IntegerField()
    # The agent tool whose inner loop sent it; null: the attempt itself.
    tool_call = models.ForeignKey(
        ToolCall, null=True, blank=True, on_delete=models.CASCADE, related_name="sent_requests"
    )
    cycle = models.SmallIntegerField()
    common = models.IntegerField(help_text="How many of its first messages are those of the cycle before.")
    messages = models.JSONField(help_text="The others, as they were sent; pictures are left out.")
    tokens = models.IntegerField(help_text="Of all its messages, by our own count.")
    prefix_share = models.FloatField(
        help_text="Part of the tokens that repeat the beginning of the request before it."
    )
    sent_at = models.DateTimeField()
    parts = models.JSONField(
        default=list,
        blank=True,
        help_text="Of the others, each: its letter, and its tokens by our own count.",
    )
    account = models.JSONField(
        default=dict,
        blank=True,
        help_text="What it was built for, and what of the branch it does not hold, and why.",
    )

    objects = SentRequestQuerySet.as_manager()

    class Meta:
        ordering = ("run", "attempt", "sent_at", "id")
        indexes = [models.Index(fields=["sent_at"], name="sent_request_by_age")]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "attempt", "tool_call", "cycle"],
                nulls_distinct=False,
                name="one_sent_request_per_cycle",
            ),
            models.CheckConstraint(
                condition=Q(attempt__gte=1, cycle__gte=1, common__gte=0, tokens__gte=0),
                name="sent_request_counts_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(prefix_share__gte=0, prefix_share__lte=1), name="prefix_share_is_a_share"
            ),
        ]

    def __str__(self) -> str:
        return f"cycle {self.cycle} of attempt {self.attempt}"

    # Queries

    def whole(self) -> list[dict[str, Any]]:
        """Return all its messages, oldest first, joined from this cycle and those before it."""
        return [message for message, _part in self.weighed()]

    def weighed(self) -> list[tuple[dict[str, Any], tuple[str, int] | None]]:
        """Return the messages of whole(), each with its letter and tokens; None where these are not known."""
        chain = SentRequest.objects.filter(
            run=self.run_id, attempt=self.attempt, tool_call=self.tool_call_id, cycle__lte=self.cycle
        )
        messages: list[tuple[dict[str, Any], tuple[str, int] | None]] = []
        for request in chain.order_by("cycle"):
            parts = request.parts or [None] * len(request.messages)
            messages[request.common :] = zip(request.messages, parts, strict=False)
        return messages
