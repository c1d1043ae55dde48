"""RunSetup: the agent, prompts, tools and options that one attempt at a run answered with."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db import models

from chat.models.message import ChatMessage
from chat.models.prompt_version import PromptVersion
from chat.models.run import Run, run_of


class RunSetupQuerySet(models.QuerySet["RunSetup"]):
    def agents_of(self, messages: Iterable[ChatMessage]) -> dict[UUID, str]:
        """Return the names that the answering agents had at the time, by message id; only for answers of an agent."""
        runs = {run.pk: message.pk for message in messages if (run := run_of(message))}
        if not runs:
            return {}
        # The latest attempt wins. Plan: one_setup_per_attempt.
        named = self.filter(run__in=runs).exclude(agent_name="").order_by("attempt")
        return {runs[run]: name for run, name in named.values_list("run", "agent_name")}


class RunSetup(models.Model):
    """Written by the statement that first saves a text of the attempt, or its end: whatever is shown has its setup."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="setups", db_index=False)
    attempt = models.IntegerField()
    # The agent at the time, not a reference: it may be renamed and deleted. Null: there was none.
    agent = models.UUIDField(null=True, blank=True)
    agent_name = models.CharField(max_length=200, blank=True, default="")
    version = models.ForeignKey(
        PromptVersion, on_delete=models.PROTECT, related_name="setups", db_index=False
    )
    options = models.JSONField(help_text="What held for its requests beside the prompts.")

    objects = RunSetupQuerySet.as_manager()

    class Meta:
        ordering = ("run", "attempt")
        # Not the indexes of the foreign keys: one_setup_per_attempt begins with the run, and versions need no LIKE.
        indexes = [models.Index(fields=["version"], name="setup_by_version")]
        constraints = [
            models.UniqueConstraint(fields=["run", "attempt"], name="one_setup_per_attempt"),
            models.CheckConstraint(condition=models.Q(attempt__gte=1), name="setup_of_an_attempt"),
            models.CheckConstraint(
                condition=models.Q(agent__isnull=False) | models.Q(agent_name=""),
                name="setup_names_no_agent_without_one",
            ),
        ]

    def __str__(self) -> str:
        return f"setup of attempt {self.attempt}"
