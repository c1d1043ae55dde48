"""Project: instructions and files that several sessions of its owner share."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.db import models, transaction

from knowledge.models.owned_row import OwnedQuerySet, OwnedRow, ReferencedRow

# The permission of staff to read the instructions of other people's projects.
INSTRUCTIONS_PERMISSION: Final = "knowledge.view_project_instructions"


class Project(OwnedRow, ReferencedRow):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="projects")
    name = models.CharField(max_length=200)
    instructions = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = OwnedQuerySet["Project"].as_manager()

    class Meta:
        ordering = ("-updated_at", "-id")
        permissions = [("view_project_instructions", "Can view the instructions of projects")]
        indexes = [models.Index(fields=["-updated_at", "-id"], name="project_by_update")]
        constraints = [models.CheckConstraint(condition=~models.Q(name=""), name="project_has_a_name")]

    def __str__(self) -> str:
        return self.name

    # Mutators

    def change(self, files: Iterable[UUID] | None = None, **fields: Any) -> bool:
        """Set fields that the owner may edit, in the row and this object. False: the row was deleted.

        files: ids of all files that belong to this project, and no other, from now on; None: no change.
        """
        with transaction.atomic():
            if not super().change(**fields):
                return False
            if files is not None:
                self._replace_files(files)
        return True

    def _replace_files(self, files: Iterable[UUID]) -> None:
        """Replace the files of the project.
        The caller's update has locked the row, so that of two concurrent changes one determines all files.
        """
        ids = list(files)
        current: Any = self.files
        current.exclude(pk__in=ids).update(project=None)
        current.model.objects.filter(pk__in=ids).update(project=self)
