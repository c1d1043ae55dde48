"""RunSetup: the agent, prompts, tools and options that one attempt at a run answered with."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from django.db import models
from django.db.models.functions import Now

from chat.models.message import ChatMessage
from chat.models.run import Run, run_of
from chat.models.sql.run_records import MARK_UNUSED, PURGE_UNUSED

# Between marking a version that no run refers to and deleting it: longer than any statement that stores a setup takes,
# so that none can refer to a version that is being deleted.
REST = timedelta(hours=1)


# Characters of the digest that are shown.
SHORT = 12


class PromptVersionQuerySet(models.QuerySet["PromptVersion"]):
    def purge(self) -> int:
        """Mark the versions that no run refers to, and delete those marked for a while; returns how many were deleted.

        A version that is used again meanwhile is unmarked by the statement that stores the use.
        """
        deleted = PURGE_UNUSED.all(rest=REST)
        MARK_UNUSED.all(rest=REST)
        return len(deleted)


class PromptVersion(models.Model):
    """content (JSON object): base_prompt, prompt, replaces_system_prompt, reminder, context_layout and tools as they
    can be edited (chat/prompts/definition.py); system and citations, the composed system prompt and the section that
    requests with documents append to it; tool_schemas, the tools as the model was offered them.
    """

    digest = models.CharField(primary_key=True, max_length=64, editable=False)
    content = models.JSONField()
    created_at = models.DateTimeField(db_default=Now())
    # When no run referred to it any more; null while one may.
    unused_since = models.DateTimeField(null=True, blank=True)

    objects = PromptVersionQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "digest")
        indexes = [models.Index(fields=["created_at"], name="prompt_version_by_age")]

    def __str__(self) -> str:
        return self.short

    @property
    def short(self) -> str:
        """The beginning of the digest, as it is shown."""
        return self.digest[:SHORT]


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
