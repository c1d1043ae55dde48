"""SavedPrompt: a text that its owner puts into messages again and again."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q

from knowledge.models.owned_row import OwnedQuerySet, OwnedRow


class SavedPrompt(OwnedRow):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="saved_prompts"
    )
    name = models.CharField(max_length=200)
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = OwnedQuerySet["SavedPrompt"].as_manager()

    class Meta:
        app_label = "chat"
        ordering = ("-updated_at", "-id")
        indexes = [models.Index(fields=["owner", "-updated_at", "-id"], name="saved_prompt_by_owner")]
        constraints = [models.CheckConstraint(condition=~Q(name=""), name="saved_prompt_has_a_name")]

    def __str__(self) -> str:
        return self.name
