"""DeletedBlob: content in the storage that no file refers to any more, until it is deleted there."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class DeletedBlob(models.Model):
    """Written by a trigger of the table of files, in the transaction that deletes or replaces a file's content or thumbnail:
    whichever way a row goes (with its owner, by SQL), and whatever dies afterwards."""

    path = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.path
