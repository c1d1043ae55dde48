"""Turn: one user message being answered; it has one run per model."""

from __future__ import annotations

import uuid
from typing import Any
from uuid import UUID

from django.db import models

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

    objects = TurnQuerySet.as_manager()

    class Meta:
        ordering = ("created_at", "id")
        indexes = [
            # For lists: which sessions are being answered.
            models.Index(fields=["session"], name="turn_in_progress", condition=models.Q(ended_at=None)),
            models.Index(fields=["created_at"], name="turn_by_age"),
        ]

    def __str__(self) -> str:
        return f"turn {self.pk}"
