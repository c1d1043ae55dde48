"""Turn: one user message being answered; it has one run per model."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self
from uuid import UUID

from django.contrib.postgres.fields import ArrayField
from django.db import models

from chat.infrastructure.log_context import MAX_REQUEST_ID_CHARACTERS
from chat.models.message import ChatMessage
from chat.models.session import Session, SessionEvent
from chat.models.sql import turns

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class SentBeside(NamedTuple):
    """What a client sent beside a question and its files; it belongs to the question, however often that is answered.

    knowledge_bases: bases picked with it, which alone are searched; empty: none was picked.
    earlier_bases: bases picked with questions above it, which are searched again.
    instructs: the context instructs the model, and does not only inform it.
    """

    additional_context: str = ""
    knowledge_bases: Sequence[UUID] = ()
    earlier_bases: Sequence[UUID] = ()
    instructs: bool = False


# The columns of a turn that SentBeside is made of.
_BESIDE: Final = (
    "additional_context",
    "is_context_instructing",
    "knowledge_bases",
    "earlier_knowledge_bases",
)


class TurnQuerySet(models.QuerySet["Turn"]):
    # Mutators

    def end(self, pk: UUID, session: Session, payload: dict[str, Any]) -> SessionEvent:
        """End a turn whose last run is announced. Returns `overall_stop` with this payload, to be published.

        The caller holds the session's lock.
        """
        return session.record("overall_stop", payload, turns.END.query(turn=pk))

    def set_caller_tools(self, pk: UUID, tools: dict[str, Any] | None, given_rounds: int) -> None:
        """Store what the program that asked carries out itself. Called in the transaction that starts the turn."""
        self.filter(pk=pk).update(caller_tools=tools, given_rounds=given_rounds)

    # Queries

    def visible_to(self, user: User) -> Self:
        return self.filter(session__owner=user, session__deleted_at=None)

    def sent_beside(self, question: ChatMessage) -> SentBeside:
        first = self.filter(user_message=question).order_by("created_at", "id").only(*_BESIDE).first()
        return first.beside if first else SentBeside()

    def sent_beside_each(self, questions: Iterable[UUID]) -> dict[UUID, SentBeside]:
        """Return what was sent beside each question; questions without anything are left out.
        All turns of a question have the same, except that the latest says which earlier bases it searches, and has the
        instructions that came with outputs of calls.
        """
        has_bases = models.Q(knowledge_bases__isnull=False) | models.Q(earlier_knowledge_bases__isnull=False)
        rows = self.filter(~models.Q(additional_context="") | has_bases, user_message__in=questions)
        latest = rows.order_by("user_message_id", "-created_at", "-id").distinct("user_message_id")
        return {turn.user_message_id: turn.beside for turn in latest.only("user_message", *_BESIDE)}

    def blocking(self, answer_id: UUID | str) -> Turn | None:
        """Return the turn that must end before a reply to this message can start; None if there is none.
        It is the message's own turn, or the one that this turn waits for.
        """
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
    # The text that a client sent beside the question. It belongs to the question: every later turn of it has the same,
    # unless a program sends other instructions with the outputs of its calls.
    additional_context = models.TextField(blank=True, default="", db_default="")
    # Whether it is instructions of the program that asked, as its user trusts it; else it is information.
    is_context_instructing = models.BooleanField(default=False, db_default=False)
    # Ids of the knowledge bases that were picked with the question, which alone are searched; None: none was picked.
    # They belong to the question, as additional_context does.
    knowledge_bases = ArrayField(models.UUIDField(), null=True, blank=True)
    # Ids of the bases that were picked with questions above this one, and are searched again; None: there are none.
    earlier_knowledge_bases = ArrayField(models.UUIDField(), null=True, blank=True)
    # The turn in whose columns the answers of this one stand, in the place of earlier ones; None: in its own.
    origin = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.SET_NULL, related_name="retries"
    )
    # The id of the HTTP request or websocket command that started it.
    request_id = models.CharField(max_length=MAX_REQUEST_ID_CHARACTERS, blank=True, default="", db_default="")
    # The API token with which it was asked for, by the id that its user sees; null: by a login.
    api_token = models.UUIDField(null=True, blank=True)
    # The functions that the program which asked carries out itself: CallerTools as JSON; null: none.
    caller_tools = models.JSONField(null=True, blank=True)
    # How many rounds of calls the program gave with the question: its answers begin with them.
    given_rounds = models.SmallIntegerField(default=0, db_default=0)

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
    def beside(self) -> SentBeside:
        return SentBeside(
            self.additional_context,
            self.knowledge_bases or (),
            self.earlier_knowledge_bases or (),
            self.is_context_instructing,
        )

    @property
    def columns_id(self) -> UUID:
        """The id of the turn in whose columns its answers stand."""
        return self.origin_id or self.pk
