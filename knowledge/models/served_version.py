"""ServedVersion: the version of a document that members see while a newer one is being read, or has failed."""

from __future__ import annotations

from typing import Self

from django.db import models

from knowledge.models.file import File


class ServedVersionQuerySet(models.QuerySet["ServedVersion"]):
    def keep(self, document: File) -> None:
        """Copy the document's version, which is complete, unless a copy exists already. The caller holds the row."""
        columns = ("name", "url", "content_type", "size_bytes", "content")
        kept = ServedVersion(document_id=document.pk, **{name: getattr(document, name) for name in columns})
        self.bulk_create([kept], ignore_conflicts=True)

    def of_document(self, document: File) -> Self:
        return self.filter(document=document.pk)


class ServedVersion(models.Model):
    """A complete version of a document. The columns are named as in the document's row, which has the latest version.

    A trigger deletes this row when the document becomes ready; another trigger then has the content deleted.
    """

    document = models.OneToOneField(File, primary_key=True, on_delete=models.CASCADE, related_name="served")
    name = models.CharField(max_length=255)
    url = models.TextField(blank=True, default="")
    content_type = models.CharField(max_length=200)
    size_bytes = models.BigIntegerField()
    content = models.FileField(max_length=200, blank=True)

    objects = ServedVersionQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name
