"""Project: instructions and files that several sessions of its owner share."""

from __future__ import annotations

import uuid
from typing import Any, Self

from django.conf import settings
from django.db import models


class ProjectQuerySet(models.QuerySet["Project"]):
    def visible_to(self, user: Any) -> Self:
        """The user's own projects; projects of other users are not visible."""
        return self.filter(owner=user)


class Project(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="projects")
    name = models.CharField(max_length=200)
    instructions = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        ordering = ("-updated_at", "-id")
        constraints = [models.CheckConstraint(condition=~models.Q(name=""), name="project_has_a_name")]

    def __str__(self) -> str:
        return self.name
