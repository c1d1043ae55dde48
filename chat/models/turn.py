"""Turn: one user message being answered; it has one run per model."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models

from chat.infrastructure.log_context import MAX_REQUEST_ID_CHARACTERS
from chat.models.message import ChatMessage
from chat.models.session import Session, SessionEvent
from chat.models.sql import turns


class TurnQuerySet(models.QuerySet["Turn"]):
    # Mutators

    def end(self, pk: UUID, session: Session, payload: dict[str, Any]) -> SessionEvent:
        """End a turn whose last run is announced. Returns `overall_stop` with this payload, to be published.

        The caller holds the session's lock.
        """
        return session.record("overall_stop", payload, turns.END.query(turn=pk))

    # Queries

    def additional_context_of(self, question: ChatMessage) -> str:
        """The text that was sent beside this question; empty if there was none."""
        turns = self.filter(user_message=question).order_by("created_at", "id")
        return turns.values_list("additional_context", flat=True).first() or ""

    def additional_contexts(self, questions: Iterable[UUID]) -> dict[UUID, str]:
        """By question, of those that have one. All turns of a question have the same."""
        given = self.filter(user_message__in=questions).exclude(additional_context="")
        return dict(given.values_list("user_message_id", "additional_context"))

    def blocking(self, answer_id: UUID | str) -> Turn | None:
        """The turn that must end before a reply to this message can start: its own, or the one that waits for."""
        row = turns.READ_BLOCKER.first(answer=answer_id)
        return self.select_related("after").get(pk=row.turn) if row and row.turn else None


class Turn(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="turns")
    user_message = models.ForeignKey(ChatMessage, on_delete=models.CASCADE, related_name="turns")
    # The turn that this one waits for (while_answering = enqueue): its runs are not claimed before that has ended.
    after = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="followers"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    # When overall_stop was recorded; None while any run of the turn has not announced its end.
    ended_at = models.DateTimeField(null=True, blank=True)
    # The text that the client sent beside the question. It belongs to the question: every later turn of it has the same.
    additional_context = models.TextField(blank=True, default="", db_default="")
    # Ids of the knowledge bases that were picked with the question, which alone are searched; None: none was picked. They
    # belong to the question, as additional_context does.
    knowledge_bases = ArrayField(models.UUIDField(), null=True, blank=True)
    # The turn in whose columns the answers of this one stand, in the place of earlier ones; None: in its own.
    origin = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="retries"
    )
    # Of the HTTP request or websocket command that started it.
    request_id = models.CharField(max_length=MAX_REQUEST_ID_CHARACTERS, blank=True, default="", db_default="")

    objects = TurnQuerySet.as_manager()

    class Meta:
        ordering = ("created_at", "id")
        indexes = [
            # For lists: which sessions are being answered.
            models.Index(fields=["session"], name="turn_in_progress", condition=models.Q(ended_at=None)),
            models.Index(fields=["created_at"], name="turn_by_age"),
            # For the admin's search.
            models.Index(fields=["request_id"], name="turn_by_request", condition=~models.Q(request_id="")),
        ]

    def __str__(self) -> str:
        return f"turn {self.pk}"

    @property
    def columns_id(self) -> UUID:
        """The id of the turn in whose columns its answers stand."""
        return self.origin_id or self.pk
