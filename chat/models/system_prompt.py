"""SystemPrompt: the base prompt as staff edited it. Without a row, the worker's default is in force."""

from __future__ import annotations

from django.db import models

from chat.models.sql.model_configs import EDITED_PROMPT


class SystemPrompt(models.Model):
    # The constant 1, so that there is at most one row.
    id = models.SmallIntegerField(primary_key=True, default=1, editable=False)
    text = models.TextField(blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_system_prompt")]

    def __str__(self) -> str:
        return "system prompt"

    @classmethod
    def edited(cls) -> str | None:
        """Return the edited text; None if staff never edited it (an empty edit is an edit)."""
        row = EDITED_PROMPT.first()
        return row.text if row else None

    @classmethod
    def edit(cls, text: str) -> None:
        cls.objects.update_or_create(id=1, defaults={"text": text})
