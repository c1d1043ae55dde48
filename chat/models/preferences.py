"""Preferences: what a user has chosen for all of their chats. A user without a row has chosen nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class PreferencesManager(models.Manager["Preferences"]):
    def of_user(self, user: User) -> Preferences:
        """Return the user's preferences; defaults, which are not stored, if there are none."""
        return self.filter(user=user).first() or self.model(user=user)

    def change(self, user: User, **fields: Any) -> Preferences:
        """Store the fields; the others stay as they are."""
        row, _ = self.update_or_create(user=user, defaults=fields)
        return row


class Preferences(models.Model):
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL, primary_key=True, on_delete=models.CASCADE, related_name="preferences"
    )
    # A section of the system prompt of the user's chats, unless it is switched off, which keeps the text.
    instructions = models.TextField(blank=True, default="", db_default="")
    uses_instructions = models.BooleanField(default=True, db_default=True)
    # Names of the models that answer chats for which neither the user nor an agent names any, as far as they are still
    # offered; without one, the default model. The last field: below it the name `models` refers to this field.
    models = ArrayField(models.CharField(max_length=200), default=list, db_default=[], blank=True)

    objects = PreferencesManager()

    class Meta:
        verbose_name_plural = "preferences"

    def __str__(self) -> str:
        return f"preferences of user {self.user_id}"
