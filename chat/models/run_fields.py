"""Columns of Run: its knowledge bases, its use and limits, and what the model server said when it failed."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce, TruncDate

from chat.models.lease import L, LeasedQuerySet
from chat.protocol.errors import MAX_CODE_CHARACTERS, UpstreamError
from chat.protocol.states import LIVE
from chat.transcript.usage import RunLimits, RunSpending, TokenUsage


class KnowledgeAccess(models.TextChoices):
    FULL = "full"
    RESTRICTED = "restricted"


class RunKnowledge(NamedTuple):
    """The values of RunKnowledgeFields."""

    knowledge_bases: list[UUID]
    are_bases_picked: bool
    knowledge_access: str


class RunKnowledgeFields(models.Model):
    """The server alone decides these fields, when the turn starts.

    knowledge_bases: ids, in the order of the prompt.  are_bases_picked: whether they were picked with the question;
    then they alone are searched.  knowledge_access: the access to all of them together that the roles of the session's
    owner allow.
    """

    knowledge_bases = ArrayField(models.UUIDField(), default=list, db_default=[], blank=True)
    are_bases_picked = models.BooleanField(default=False, db_default=False)
    knowledge_access = models.CharField(
        max_length=10, choices=KnowledgeAccess.choices, blank=True, default="", db_default=""
    )

    class Meta:
        abstract = True

    @property
    def is_restricted(self) -> bool:
        """Whether its model may see its knowledge bases only as a secondary model renders them; also if unclear."""
        return bool(self.knowledge_bases) and self.knowledge_access != KnowledgeAccess.FULL


# The columns that hold token counts, of runs and of requests beside them.
USAGE = TokenUsage._fields


class RunUsage(LeasedQuerySet[L]):
    def used(self, since: datetime, until: datetime) -> Any:
        """Sum the runs that ended in this period, by UTC day and model, oldest day first; imported runs do not count.

        The sums are the number of runs, their requests to the model, `used_` tokens and cost. A run that is continued
        after its end counts when the continuation was asked for.
        """
        ended = Q(ended_at__gte=since, ended_at__lte=until)
        goes_on = Q(status__in=LIVE, continuations__gt=0, queued_at__gte=since, queued_at__lte=until)
        counted = self.filter(ended | goes_on, is_imported=False)
        day = TruncDate(Coalesce("ended_at", "queued_at"), tzinfo=UTC)
        by_day = counted.annotate(day=day).values("day", "model")
        tokens = {f"used_{name}": Coalesce(Sum(name), 0) for name in USAGE}
        summed = by_day.annotate(runs=Count("pk"), requests=Sum("cycles"), used_cost=Sum("cost"), **tokens)
        return summed.order_by("day", "model")


class RunSpendingFields(models.Model):
    """Sums of all attempts; written with every round of tools and at the end. See chat/transcript/usage.py."""

    spent_inferences = models.IntegerField(default=0, db_default=0)
    spent_tool_calls = models.IntegerField(default=0, db_default=0)
    spent_searches = models.IntegerField(default=0, db_default=0)
    spent_tokens = models.IntegerField(default=0, db_default=0)

    class Meta:
        abstract = True

    @property
    def spending(self) -> RunSpending:
        return RunSpending(*(getattr(self, f"spent_{name}") for name in RunSpending._fields))


def run_limits() -> RunLimits:
    return RunLimits(
        settings.MAX_RUN_INFERENCES,
        settings.MAX_RUN_TOOL_CALLS,
        settings.MAX_RUN_SEARCHES,
        settings.MAX_RUN_TOKENS,
        settings.MAX_RUN_CHARACTERS,
    )


def spending_columns(spent: RunSpending | None) -> dict[str, int | None]:
    """Return the parameters for the columns. None: the columns stay as they are."""
    return {f"spent_{name}": None if spent is None else getattr(spent, name) for name in RunSpending._fields}


class UpstreamFailureFields(models.Model):
    """Empty without a failure of the model server; redacted and capped before they get here."""

    upstream_status = models.SmallIntegerField(
        null=True, blank=True, help_text="The HTTP status of the model server's error."
    )
    upstream_code = models.CharField(
        max_length=MAX_CODE_CHARACTERS,
        blank=True,
        default="",
        db_default="",
        help_text="The model server's own error code or type.",
    )
    upstream_message = models.TextField(
        blank=True, default="", db_default="", help_text="What the model server said, without secrets."
    )

    class Meta:
        abstract = True

    @property
    def upstream_error(self) -> UpstreamError:
        return UpstreamError(self.upstream_status, self.upstream_code, self.upstream_message)


def upstream_columns(error: UpstreamError) -> dict[str, Any]:
    """Return the values of the columns."""
    return {
        "upstream_status": error.status,
        "upstream_code": error.code,
        "upstream_message": error.message,
    }
