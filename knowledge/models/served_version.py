"""ServedVersion: what members see of a document while another version of it is read, and after that failed."""

from __future__ import annotations

from typing import Self

from django.db import models

from knowledge.models.file import File


class ServedVersionQuerySet(models.QuerySet["ServedVersion"]):
    def keep(self, document: File) -> None:
        """Keep the version that a document has, which is whole, unless an earlier one is kept. The caller holds the row."""
        columns = ("name", "url", "content_type", "size_bytes", "content")
        kept = ServedVersion(document_id=document.pk, **{name: getattr(document, name) for name in columns})
        self.bulk_create([kept], ignore_conflicts=True)

    def of(self, document: File) -> Self:
        return self.filter(document=document.pk)


class ServedVersion(models.Model):
    """The columns are those of the row of the document, which has those of the version that was given last.

    The statement that makes the document ready deletes it, by a trigger, and another one has the content deleted then.
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
