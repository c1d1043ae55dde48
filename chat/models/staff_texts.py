"""Texts that staff edit for everybody: Suggestion, a message that an empty page offers, and SystemPrompt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.db import models

from chat.models.sql.model_configs import EDITED_PROMPT

# More would be read by nobody.
MOST_SHOWN: Final = 6


class SuggestionManager(models.Manager["Suggestion"]):
    def offered(self) -> Sequence[str]:
        """Return the messages that the page of a new chat offers, in their order."""
        return list(self.values_list("text", flat=True)[:MOST_SHOWN])


class Suggestion(models.Model):
    text = models.CharField(max_length=200)
    position = models.PositiveSmallIntegerField(
        default=0, help_text="The lowest stands first; six are shown."
    )

    objects = SuggestionManager()

    class Meta:
        ordering = ("position", "id")

    def __str__(self) -> str:
        return self.text


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
