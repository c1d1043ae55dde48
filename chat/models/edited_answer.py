"""EditedAnswer: marks an answer whose text the session's owner wrote, starting from the text of a model."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db import models

from chat.models.message import ChatMessage
from chat.models.role import Role
from chat.models.run import run_of


class EditedAnswerQuerySet(models.QuerySet["EditedAnswer"]):
    def by_message(self, messages: Iterable[ChatMessage]) -> dict[UUID, EditedAnswer]:
        """Return the edited answers among these messages, by message id.
        `run` should be joined: an edited answer has no run, so mostly no query is needed.
        """
        without_run = [one.pk for one in messages if one.role == Role.ASSISTANT and run_of(one) is None]
        return {one.message_id: one for one in self.filter(message__in=without_run)} if without_run else {}


class EditedAnswer(models.Model):
    message = models.OneToOneField(ChatMessage, on_delete=models.CASCADE, related_name="edited")
    # A sibling; null: it is not in this session, as in a fork.
    original = models.ForeignKey(
        ChatMessage, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # The model that wrote the original text; empty: unknown.
    model = models.CharField(max_length=200, blank=True, default="")

    objects = EditedAnswerQuerySet.as_manager()

    def __str__(self) -> str:
        return f"edited answer {self.message_id}"
