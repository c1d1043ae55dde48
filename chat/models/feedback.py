"""Feedback: the owner's opinion of an answer."""

from django.db import models
from django.db.models import Q

from chat.models.message import ChatMessage


class Feedback(models.Model):
    message = models.OneToOneField(ChatMessage, on_delete=models.CASCADE, related_name="feedback")
    is_positive = models.BooleanField(null=True, blank=True)
    text = models.TextField(blank=True, default="")
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        verbose_name_plural = "feedback"
        constraints = [
            models.CheckConstraint(
                condition=Q(is_positive__isnull=False) | ~Q(text=""), name="feedback_says_something"
            )
        ]

    def __str__(self) -> str:
        return f"feedback on {self.message_id}"
