"""The columns of Run that keep what it has used of its limits, and the limits of this deployment."""

from __future__ import annotations

from django.conf import settings
from django.db import models

from chat.transcript.run_spending import RunLimits, RunSpending


class RunSpendingFields(models.Model):
    """Of all attempts; written with every round of tools and at the end. See chat/transcript/run_spending.py."""

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
    """The parameters for the columns; None: they stay as they are."""
    return {f"spent_{name}": None if spent is None else getattr(spent, name) for name in RunSpending._fields}
