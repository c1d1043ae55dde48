"""DeletedBlob: a content that no file refers to any more, until it is deleted from the storage."""

from __future__ import annotations

from django.db import models
from django.db.models.functions import Now


class DeletedBlob(models.Model):
    """A blob to be deleted.

    A trigger on the table of files inserts the row in the transaction that deletes or replaces a file's content or
    thumbnail, also if the file is deleted with its owner or by SQL. So no later crash can lose it.
    """

    path = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.path
