"""SystemPrompt: staff's edit of the base prompt. No row: the default that ships with the worker."""

from __future__ import annotations

from typing import Any, ClassVar

from django.db import models

from chat.models.sql import statements


class SystemPrompt(models.Model):
    # One row at most: the primary key is the constant 1.
    id = models.SmallIntegerField(primary_key=True, default=1, editable=False)
    text = models.TextField(blank=True)
    updated_at = models.DateTimeField(auto_now=True)

    EDITED: ClassVar[statements.Asked] = ("SELECT text FROM chat_systemprompt", {})

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="one_system_prompt")]

    def __str__(self) -> str:
        return "system prompt"

    @classmethod
    def edited(cls) -> str | None:
        """The edited text; None if staff never edited it (an empty edit is an edit)."""
        return cls.told(statements.every(*cls.EDITED))

    @staticmethod
    def told(rows: list[Any]) -> str | None:
        """What EDITED has found, as edited() says it."""
        return rows[0][0] if rows else None

    @classmethod
    def edit(cls, text: str) -> None:
        cls.objects.update_or_create(id=1, defaults={"text": text})
