"""SentRequest: the messages a run sent to its model in one cycle, kept for some hours to be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from chat.models.run import Run
from chat.models.sql import statements
from chat.models.tool_call import ToolCall


class Sent(NamedTuple):
    """One row before it has its run. messages, parts: JSON, of those after the first `common`; account: JSON;
    sent_at: UTC."""

    cycle: int
    tool_call: UUID | None
    common: int
    messages: str
    tokens: int
    prefix_share: float
    sent_at: datetime
    parts: str
    account: str


class KeptOf(NamedTuple):
    """A row with its run."""

    run: UUID
    attempt: int
    sent: Sent


# The runs are held, or the deletion of one in this moment would break the insertion. Sent again after a lost
# connection, the rows are there already.
_KEEP = """
    WITH held AS (
        SELECT id FROM chat_run WHERE id = ANY(%(run)s::uuid[]) ORDER BY id FOR KEY SHARE
    ), kept AS (
        INSERT INTO chat_sentrequest
            (run_id, attempt, cycle, tool_call_id, common, messages, tokens, prefix_share, sent_at, parts, account)
        SELECT held.id, given.attempt, given.cycle, given.tool_call, given.common, given.messages::jsonb,
            given.tokens, given.prefix_share, given.sent_at, given.parts::jsonb, given.account::jsonb
        FROM held JOIN unnest(
            %(run)s::uuid[], %(attempt)s::int[], %(cycle)s::smallint[], %(tool_call)s::uuid[], %(common)s::int[],
            %(messages)s::text[], %(tokens)s::int[], %(prefix_share)s::float8[], %(sent_at)s::timestamptz[],
            %(parts)s::text[], %(account)s::text[]
        ) AS given(
            run, attempt, cycle, tool_call, common, messages, tokens, prefix_share, sent_at, parts, account
        )
            ON given.run = held.id
        WHERE given.tool_call IS NULL
            OR EXISTS (SELECT FROM chat_toolcall WHERE id = given.tool_call AND run_id = held.id)
        ON CONFLICT DO NOTHING
    )
    SELECT id FROM held
"""


class SentRequestQuerySet(models.QuerySet["SentRequest"]):
    # Mutators

    def keep(self, rows: Sequence[KeptOf]) -> set[UUID]:
        """Store what attempts have sent; returns the runs that are still there."""
        columns = {name: [getattr(row.sent, name) for row in rows] for name in Sent._fields}
        given = {"run": [row.run for row in rows], "attempt": [row.attempt for row in rows], **columns}
        return {pk for (pk,) in statements.every(_KEEP, given)}

    def purge(self, older_than: timedelta, *, runs: int) -> int:
        """Delete what at most this many runs sent that long ago; returns how many rows that were.

        A run's rows go together, since each one builds on the one before.
        """
        old = self.filter(sent_at__lte=Now() - older_than).order_by().values("run").distinct()[:runs]
        return self.filter(run__in=old).delete()[0]


class SentRequest(models.Model):
    """Requests of one attempt are told from those of its agent tools by tool_call, and numbered by cycle from 1."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="sent_requests")
    attempt = models.IntegerField()
    # The agent tool whose inner loop sent it.
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
        """All its messages, oldest first, put together from the cycles before it."""
        return [message for message, _part in self.weighed()]

    def weighed(self) -> list[tuple[dict[str, Any], tuple[str, int] | None]]:
        """Those, each with its letter and tokens; None where that is not known."""
        chain = SentRequest.objects.filter(
            run=self.run_id, attempt=self.attempt, tool_call=self.tool_call_id, cycle__lte=self.cycle
        )
        messages: list[tuple[dict[str, Any], tuple[str, int] | None]] = []
        for request in chain.order_by("cycle"):
            parts = request.parts or [None] * len(request.messages)
            messages[request.common :] = zip(request.messages, parts, strict=False)
        return messages
