"""MessageFile: a file attached to a user message; models read it above that message in every later request."""

from __future__ import annotations

from typing import Self
from uuid import UUID

from django.db import models
from django.db.models import Q

from chat.models.message import ChatMessage
from chat.models.sql.messages import HIGHEST_DOCUMENT_NUMBER
from knowledge.models import File


class MessageFileQuerySet(models.QuerySet["MessageFile"]):
    def chosen(self) -> Self:
        """Select what the user has chosen, without pictures of pages; joins the files, but without their texts."""
        return self.filter(file__page_of__isnull=True).select_related("file").defer("file__text")

    def highest_number(self, message: ChatMessage | UUID | str) -> int:
        """Return the highest number of a document on the branch to `message` (or its id); 0 if there is none."""
        pk = message.pk if isinstance(message, ChatMessage) else message
        [highest] = HIGHEST_DOCUMENT_NUMBER.all(leaf=pk)
        return highest.number


class MessageFile(models.Model):
    message = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="attachments")
    file = models.ForeignKey(File, on_delete=models.CASCADE, related_name="messages")
    position = models.SmallIntegerField()
    # Identifies the document in the prompt, fixed when the message is sent; null: an image.
    number = models.IntegerField(null=True, blank=True)

    objects = MessageFileQuerySet.as_manager()

    class Meta:
        ordering = ("message", "position")
        constraints = [
            models.UniqueConstraint(fields=["message", "position"], name="one_file_per_position"),
            models.UniqueConstraint(fields=["message", "file"], name="one_place_per_file_of_a_message"),
            models.UniqueConstraint(fields=["message", "number"], name="one_file_per_number"),
            models.CheckConstraint(
                condition=Q(number__isnull=True) | Q(number__gte=1), name="file_number_positive"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.file_id} with {self.message_id}"
