"""CitedDocument: a document that an answer cites, under the number the model read."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.db import models

from chat.models.message import ChatMessage
from chat.transcript.entries import Document

MAX_ID_CHARACTERS = 500


class CitedDocumentQuerySet(models.QuerySet["CitedDocument"]):
    def keep(self, message_id: Any, documents: Iterable[Document]) -> None:
        """Keep the documents that the message links to, and delete the other rows. May be repeated.

        Called with every checkpoint of an answer that cites more than the one before, and at its end. An attempt that
        starts over may cite other documents under the same numbers.
        """
        rows = [
            self.model(
                message_id=message_id,
                number=document.number,
                document_id=document.document_id[:MAX_ID_CHARACTERS],
                title=document.title,
                url=document.url,
            )
            for document in documents
        ]
        self.filter(message=message_id).exclude(number__in=[row.number for row in rows]).delete()
        self.bulk_create(
            rows,
            update_conflicts=True,
            unique_fields=["message", "number"],
            update_fields=["document_id", "title", "url"],
        )


class CitedDocument(models.Model):
    message = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="citations")
    number = models.IntegerField()
    document_id = models.CharField(max_length=MAX_ID_CHARACTERS)
    title = models.TextField(blank=True, default="")
    url = models.TextField(blank=True, default="")

    objects = CitedDocumentQuerySet.as_manager()

    class Meta:
        ordering = ("number",)
        constraints = [
            models.UniqueConstraint(fields=["message", "number"], name="one_citation_per_number"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="citation_number_positive"),
        ]

    def __str__(self) -> str:
        return f"[{self.number}] {self.title}"
