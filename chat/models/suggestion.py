"""Suggestion: a message that an empty page offers. Without rows it offers none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from django.db import models

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
