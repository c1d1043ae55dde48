"""PromptVersion: the prompts and tools that runs were answered with, stored once for each different content."""

from __future__ import annotations

from datetime import timedelta

from django.db import models
from django.db.models.functions import Now

from chat.models.sql.run_setups import MARK_UNUSED, PURGE_UNUSED

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
