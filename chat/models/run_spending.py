"""The use of runs: the columns of Run for its limits, the limits of this deployment, and the sums of many runs."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce, TruncDate

from chat.models.lease import L, LeasedQuerySet
from chat.protocol.states import LIVE
from chat.transcript.usage import RunLimits, RunSpending, TokenUsage

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
