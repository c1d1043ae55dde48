"""MessageFile: a file as it came with a user message; it stays above that message in every later request."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Q

from chat.models.message import ChatMessage
from chat.models.sql import statements
from knowledge.models import File

# What stands for documents so far: files of messages and stored projects, what tools found, what answers cited.
_HIGHEST = f"""{statements.BRANCH}, taken AS (
        SELECT file.number FROM chat_messagefile AS file JOIN branch ON branch.id = file.message_id
        UNION ALL
        SELECT cited.number FROM chat_citeddocument AS cited JOIN branch ON branch.id = cited.message_id
        UNION ALL
        SELECT (shown ->> 'number')::int
        FROM branch JOIN chat_promptblock AS block ON block.message_id = branch.id,
        jsonb_array_elements(block.documents) AS shown
        UNION ALL
        SELECT (found ->> 'number')::int
        FROM branch JOIN chat_run AS run ON run.message_id = branch.id
        JOIN chat_toolcall AS call ON call.run_id = run.id,
        jsonb_array_elements(call.documents) AS found
    )
    SELECT COALESCE(max(number), 0) FROM taken
"""  # noqa: S608  constants alone


class MessageFileQuerySet(models.QuerySet["MessageFile"]):
    def highest_number(self, message: Any) -> int:
        """The highest number that stands for a document on the branch to `message` (or its id); 0: there is none."""
        pk = message.pk if isinstance(message, ChatMessage) else message
        highest: int = statements.first(_HIGHEST, {"leaf": pk})[0]
        return highest


class MessageFile(models.Model):
    message = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="attachments")
    file = models.ForeignKey(File, on_delete=models.CASCADE, related_name="messages")
    position = models.SmallIntegerField()
    # Of its document in the prompt, fixed when the message is sent; null: a picture.
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
