"""File: something a user uploaded, and the text or picture that models get of it."""

from __future__ import annotations

import uuid
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from knowledge.models.project import Project


class FileKind(models.TextChoices):
    TEXT = "text"
    IMAGE = "image"
    TABULAR = "tabular"  # its text is a preview: columns and first rows


class FileStatus(models.TextChoices):
    PROCESSING = "processing"  # stored; its text is being extracted
    READY = "ready"
    FAILED = "failed"


class FileQuerySet(models.QuerySet["File"]):
    def visible_to(self, user: Any) -> Self:
        """The user's own files; files of other users are not visible."""
        return self.filter(owner=user)


def stored_as(file: File, _name: str) -> str:
    """The path in the storage: the id, never the name that the user gave."""
    return f"files/{file.pk}"


class File(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="files")
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.SET_NULL, related_name="files"
    )
    name = models.CharField(max_length=255, help_text="As it is shown.")
    content_type = models.CharField(max_length=200, default="text/plain")
    kind = models.CharField(max_length=7, choices=FileKind.choices, default=FileKind.TEXT)
    size_bytes = models.BigIntegerField(default=0)
    content = models.FileField(upload_to=stored_as, blank=True, max_length=200)
    status = models.CharField(max_length=10, choices=FileStatus.choices, default=FileStatus.PROCESSING)
    error_code = models.CharField(max_length=40, blank=True, default="")
    # The text that models read and its tokens in the default encoding; for images width_px and height_px instead.
    text = models.TextField(blank=True, default="")
    token_count = models.IntegerField(default=0)
    width_px = models.IntegerField(null=True, blank=True)
    height_px = models.IntegerField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    objects = FileQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")
        indexes = [models.Index(fields=["owner", "-created_at", "-id"], name="file_by_owner")]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=FileKind.values), name="file_kind_known"),
            models.CheckConstraint(condition=Q(status__in=FileStatus.values), name="file_status_known"),
            models.CheckConstraint(
                condition=Q(size_bytes__gte=0, token_count__gte=0), name="file_sizes_not_negative"
            ),
            models.CheckConstraint(
                condition=(Q(status="failed") & ~Q(error_code="")) | (~Q(status="failed") & Q(error_code="")),
                name="file_has_an_error_iff_failed",
            ),
            models.CheckConstraint(
                condition=~Q(kind="image", status="ready")
                | Q(width_px__isnull=False, width_px__gte=1, height_px__isnull=False, height_px__gte=1),
                name="ready_picture_has_its_size",
            ),
        ]

    def __str__(self) -> str:
        return self.name
