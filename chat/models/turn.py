"""Turn: one user message being answered; it has one run per model."""

import uuid

from django.db import models

from chat.models.message import ChatMessage
from chat.models.session import Session


class Turn(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="turns")
    user_message = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="turns")
    # The turn this one waits for (while_answering = enqueue); its runs are not claimed before that has ended.
    after = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="followers"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    # When overall_stop was recorded; None while any run of the turn has not announced its end.
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("created_at", "id")

    def __str__(self) -> str:
        return f"turn {self.pk}"
