"""Session: one chat, owner of a message tree with exactly one empty root. SessionEvent: its numbered news."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.db import models, transaction
from django.db.models import F

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from chat.models.message import ChatMessage


class WhileAnswering(models.TextChoices):
    """What a new turn does when the tip of the branch is still being answered."""

    REJECT = "reject"
    ENQUEUE = "enqueue"
    INTERRUPT = "interrupt"


class SessionQuerySet(models.QuerySet["Session"]):
    def visible_to(self, user: Any) -> Self:
        """The user's own sessions; everybody else's do not exist for them."""
        return self.filter(owner=user)

    def start(self, owner: User, **fields: Any) -> Session:
        """A new session with its root."""
        from chat.models.message import ChatMessage, Role

        with transaction.atomic():
            session = self.create(owner=owner, **fields)
            root = ChatMessage.objects.create(session=session, role=Role.ROOT)
            session.leaf = root
            self.filter(pk=session.pk).update(leaf=root)
        return session

    def lock(self, pk: Any) -> Session:
        """The session, locked so that appends to one tree happen one after the other (FOR NO KEY UPDATE)."""
        return self.select_for_update(no_key=True).get(pk=pk)


class Session(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sessions")
    title = models.CharField(max_length=200, blank=True, default="")
    while_answering = models.CharField(
        max_length=9, choices=WhileAnswering.choices, default=WhileAnswering.ENQUEUE
    )
    # The tip of the current branch: where following latest_child from the root ends. Written only together
    # with latest_child, under the session's lock, so that a send need not walk the branch.
    leaf = models.ForeignKey(
        "chat.ChatMessage", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # The number of the newest SessionEvent; contiguous from 1.
    latest_event = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    objects = SessionQuerySet.as_manager()

    class Meta:
        ordering = ("-updated_at", "-id")
        indexes = [models.Index(fields=["owner", "-updated_at", "-id"], name="session_by_owner")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(while_answering__in=WhileAnswering.values),
                name="session_while_answering_known",
            )
        ]

    def __str__(self) -> str:
        return self.title or f"session {self.pk}"

    # Mutators

    def point_at(self, leaf: ChatMessage) -> None:
        """Make `leaf` the tip of the current branch. The caller holds the session's lock."""
        type(self).objects.filter(pk=self.pk).update(leaf=leaf, updated_at=models.functions.Now())
        self.leaf = leaf

    def change(self, **fields: Any) -> None:
        """Set what the owner may edit: title, while_answering."""
        if fields:
            type(self).objects.filter(pk=self.pk).update(**fields, updated_at=models.functions.Now())

    def record(self, kind: str, payload: dict[str, Any]) -> SessionEvent:
        """Number and keep one event, in the caller's transaction.

        The UPDATE locks the row until commit, so n is contiguous and n committed means n-1 committed.
        """
        type(self).objects.filter(pk=self.pk).update(latest_event=F("latest_event") + 1)
        n = type(self).objects.values_list("latest_event", flat=True).get(pk=self.pk)
        return SessionEvent.objects.create(session=self, n=n, kind=kind, payload=payload)

    # Properties

    @property
    def root(self) -> ChatMessage:
        from chat.models.message import Role

        return self.messages.get(role=Role.ROOT)


class SessionEvent(models.Model):
    """What concerns the session and not one run (turn_started, overall_stop, compression, session).

    The row is the truth, the session's log in Redis its live copy: a client whose `since` the log no longer
    holds is served from here.
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="events")
    n = models.BigIntegerField()
    kind = models.CharField(max_length=20)
    payload = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["session", "n"], name="one_event_per_number")]

    def __str__(self) -> str:
        return f"{self.kind} {self.n}"
