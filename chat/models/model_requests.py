"""Requests to models: SentRequest for an answer, SideRequest for a title, a summary, a safe summary or a search.

A SentRequest is stored for some hours for the admin; so is the text of a SideRequest, whose usage stays.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self
from uuid import UUID

from django.db import models
from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce, Now, TruncDate

from chat.models.compression import Compression
from chat.models.run import Run
from chat.models.run_fields import USAGE
from chat.models.session import Session
from chat.models.sql.run_records import STORE
from chat.models.tool_call import ToolCall
from chat.transcript.usage import TokenUsage

if TYPE_CHECKING:
    from django.contrib.auth.models import User


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


class Purpose(models.TextChoices):
    TITLE = "title"
    SUMMARY = "summary"
    # A summary of documents that a run may not show its model; its text is kept as lengths and hashes (decision 0115).
    SAFE_SUMMARY = "safe_summary"
    EXPANSION = "expansion"  # expands the queries of a search


# The usage that an answered safe summary counts for its user, whatever it used: exact counts would tell a restricted
# member how long the documents are, and when they change. About the usage of a summary with the most excerpts allowed.
COUNTED_FOR_A_SAFE_SUMMARY: Final = TokenUsage(
    prompt_tokens=5_000, completion_tokens=500, cached_tokens=0, reasoning_tokens=0, estimated_tokens=0
)


class SideRequestQuerySet(models.QuerySet["SideRequest"]):
    # Mutators

    def purge_texts(self, older_than: timedelta, *, rows: int) -> int:
        """Empty the texts of at most this many older requests, whose usage is kept; returns how many were emptied."""
        old = self.filter(messages__isnull=False, sent_at__lte=Now() - older_than).order_by()
        return self.filter(pk__in=old.values("pk")[:rows]).update(messages=None, reply="")

    # Queries

    def owned_by(self, user: User) -> Self:
        """Select the user's requests, also those of sessions in the trash."""
        return self.filter(session__owner=user)

    def used(self, since: datetime, until: datetime) -> Any:
        """Sum the requests of this period by UTC day, model and purpose: all, answered ones, `used_` tokens, cost."""
        sent = self.filter(sent_at__gte=since, sent_at__lte=until).order_by()
        by_day = sent.annotate(day=TruncDate("sent_at", tzinfo=UTC)).values("day", "model", "purpose")
        tokens = {f"used_{name}": Coalesce(Sum(name), 0) for name in USAGE}
        answered = Count("pk", filter=Q(error_code=""))
        return by_day.annotate(requests=Count("pk"), answered=answered, used_cost=Sum("cost"), **tokens)


def _count() -> Any:
    return models.IntegerField(null=True, blank=True)


class SideRequest(models.Model):
    """Stored when it has been answered or has failed, retries included. run: the run whose question and answer a title
    is made from, or that searched documents. number: that of the pass, within one attempt at a compression, from 1.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    purpose = models.CharField(max_length=12, choices=Purpose.choices)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="side_requests")
    run = models.ForeignKey(
        Run, null=True, blank=True, on_delete=models.CASCADE, related_name="side_requests"
    )
    compression = models.ForeignKey(
        Compression, null=True, blank=True, on_delete=models.CASCADE, related_name="side_requests"
    )
    attempt = models.IntegerField(default=1)
    number = models.IntegerField(default=1)
    # The name of the model that was asked, kept when its configuration is deleted.
    model = models.CharField(max_length=200)
    sent_at = models.DateTimeField()
    error_code = models.CharField(max_length=40, blank=True, default="")
    finish_reason = models.CharField(max_length=40, blank=True, default="")

    prompt_tokens = _count()
    completion_tokens = _count()
    cached_tokens = _count()
    reasoning_tokens = _count()
    # The part of the prompt and completion tokens that the server did not report.
    estimated_tokens = _count()
    # At the model's prices when it was answered; null: a price or a count is unknown.
    cost = models.DecimalField(max_digits=18, decimal_places=9, null=True, blank=True)

    # As sent and as received, for KEEP_REQUESTS_HOURS; null: not kept any more.
    messages = models.JSONField(null=True, blank=True)
    reply = models.TextField(blank=True, default="")

    objects = SideRequestQuerySet.as_manager()

    class Meta:
        ordering = ("sent_at", "number", "id")
        indexes = [
            models.Index(fields=["sent_at"], name="side_request_by_age"),
            models.Index(
                fields=["sent_at"], name="side_request_with_text", condition=Q(messages__isnull=False)
            ),
        ]
        constraints = [
            # Only these purposes, each with its subject.
            models.CheckConstraint(
                condition=Q(
                    purpose__in=["title", "safe_summary", "expansion"],
                    run__isnull=False,
                    compression__isnull=True,
                )
                | Q(purpose="summary", run__isnull=True, compression__isnull=False),
                name="side_request_is_for_run_or_compression",
            ),
            models.CheckConstraint(
                condition=Q(attempt__gte=1, number__gte=1), name="side_request_counts_positive"
            ),
            models.CheckConstraint(
                condition=Q(cost__isnull=True) | Q(cost__gte=0), name="side_request_cost_not_negative"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.purpose} {self.number}"
