"""Session: one chat, the owner of a message tree with exactly one empty root. SessionEvent: a numbered event of it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.conf import settings
from django.db import models, transaction
from psycopg.types.json import Jsonb

from chat.models.agent import Agent
from chat.models.role import Role
from chat.models.sql import session_search, sessions
from chat.models.sql.rows import SessionRow
from chat.models.sql.statements import Query, instance, together
from knowledge.models import Project

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class WhileAnswering(models.TextChoices):
    """What a new turn does when the tip of the branch is still being answered."""

    REJECT = "reject"
    ENQUEUE = "enqueue"
    INTERRUPT = "interrupt"


# Sessions without a title of the owner or a model; in SQL: sql.sessions.IS_UNNAMED.
UNNAMED = models.Q(title="") | models.Q(has_provisional_title=True)


class SessionQuerySet(models.QuerySet["Session"]):
    def visible_to(self, user: User) -> Self:
        """The user's own sessions; those of other users are not visible."""
        return self.filter(owner=user)

    def own(self, user: User, pk: UUID | str) -> Session | None:
        """One of visible_to(user), in the way that is cheap enough for every send; None if it is not theirs."""
        row = sessions.READ_OWN.first(session=pk, user=user.pk)
        return instance(self.model, row) if row else None

    def search(self, owner: User, text: str) -> Self:
        """The owner's sessions whose title or messages contain words that start with these; all of them if text is blank."""
        own = self.visible_to(owner)
        return own.filter(pk__in=session_search.matching_sessions(owner.pk, text)) if text.strip() else own

    def start(self, owner: User, **fields: Any) -> Session:
        """A new session with its root."""
        with transaction.atomic():
            session = self.create(owner=owner, **fields)
            root = session.messages.create(role=Role.ROOT)
            session.leaf = root
            self.filter(pk=session.pk).update(leaf=root)
        return session

    def lock(self, pk: UUID | str) -> Session:
        """The session, locked (FOR NO KEY UPDATE) so that changes to one tree happen one after the other."""
        return self.locked(sessions.LOCK.all(session=pk))

    def locked(self, rows: list[SessionRow]) -> Session:
        """The session of the rows of sql.sessions.LOCK. Raises DoesNotExist."""
        if not rows:
            raise self.model.DoesNotExist
        return instance(self.model, rows[0])

    def set_title(self, pk: UUID | str, title: str) -> bool:
        """Name an unnamed session, without moving it in the list; False: it has a title, or was deleted."""
        return bool(self.filter(UNNAMED, pk=pk).update(title=title, has_provisional_title=False))

    def set_provisional_title(self, pk: UUID | str, title: str) -> bool:
        """Give it a title that set_title() may replace. False: it has some title, or was deleted."""
        return bool(self.filter(pk=pk, title="").update(title=title, has_provisional_title=True))


class Session(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sessions")
    title = models.CharField(max_length=200, blank=True, default="")
    # The title is the beginning of a question without an answer: set_title() replaces it.
    has_provisional_title = models.BooleanField(
        default=False, db_default=False, db_column="has_makeshift_title"
    )
    agent = models.ForeignKey(
        Agent, null=True, blank=True, on_delete=models.SET_NULL, related_name="sessions"
    )
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.SET_NULL, related_name="sessions"
    )
    while_answering = models.CharField(
        max_length=9, choices=WhileAnswering.choices, default=WhileAnswering.ENQUEUE
    )
    # The tip of the current branch, where following latest_child from the root ends, so that a send need not walk the
    # branch. Written together with latest_child, under the session's lock.
    leaf = models.ForeignKey(
        "chat.ChatMessage", null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    # The number of the newest SessionEvent; contiguous from 1.
    latest_event = models.BigIntegerField(default=0)
    # The newest event that the owner has seen, and the newest one that ended a turn.
    seen_event = models.BigIntegerField(default=0)
    answered_event = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    is_answering: bool  # a turn has not ended; set only where the query selects it

    objects = SessionQuerySet.as_manager()

    class Meta:
        ordering = ("-updated_at", "-id")
        indexes = [
            models.Index(fields=["owner", "-updated_at", "-id"], name="session_by_owner"),
            models.Index(fields=["updated_at"], name="session_by_age"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(while_answering__in=WhileAnswering.values),
                name="session_while_answering_known",
            )
        ]

    def __str__(self) -> str:
        return self.title or f"session {self.pk}"

    # Mutators

    def point_at(self, leaf: models.Model) -> None:
        """Make this message the tip of the current branch. The caller holds the session's lock."""
        type(self).objects.filter(pk=self.pk).update(leaf=leaf, updated_at=models.functions.Now())
        self.leaf_id = leaf.pk

    def change(self, **fields: Any) -> None:
        """Set what the owner may edit (title, while_answering, agent, project), without moving it in the list."""
        if "title" in fields:
            fields["has_provisional_title"] = False
        if fields:
            type(self).objects.filter(pk=self.pk).update(**fields)

    def record(self, kind: str, payload: dict[str, Any], *changes: Query[Any]) -> SessionEvent:
        """Number and store one event, in the caller's transaction. changes: executed before it, in one round trip.

        The UPDATE locks the row until commit, so n is contiguous and n committed means n-1 committed.
        """
        record = sessions.RECORD.query(session=self.pk, kind=kind, payload=Jsonb(payload))
        *_, [recorded] = together(*changes, record)
        return SessionEvent.recorded(recorded, kind, payload)

    def mark_seen(self, n: int | None) -> Session | None:
        """Note that the owner has seen everything up to event n (None: all). Returns the new row; None: nothing changed."""
        row = sessions.MARK_SEEN.first(session=self.pk, n=n)
        return _listed(row.session, row.is_answering) if row else None

    # Queries

    def own_prompt(self) -> str:
        """The text beside the base prompt: the agent's prompt, or else the project's instructions."""
        agent = self.agent.prompt.strip() if self.agent else ""
        return agent or (self.project.instructions.strip() if self.project else "")

    # Properties

    @property
    def is_unnamed(self) -> bool:
        """Whether this row meets UNNAMED."""
        return not self.title or self.has_provisional_title

    @property
    def is_unread(self) -> bool:
        """Whether a turn has ended since the owner last saw it."""
        return self.answered_event > self.seen_event


class SessionEvent(models.Model):
    """An event that concerns the session rather than one run: turn_started, overall_stop, compression, session.

    The row is the truth and the session's log in Redis its live copy: a client whose `since` the log no longer holds
    is served from the rows.
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

    @classmethod
    def recorded(cls, row: sessions.RecordedEvent, kind: str, payload: dict[str, Any]) -> SessionEvent:
        """The event that a statement has just stored."""
        session = _listed(row.session, row.is_answering)
        return cls(pk=row.id, session=session, n=row.n, kind=kind, payload=payload, created_at=row.created_at)


def _listed(row: SessionRow, is_answering: bool) -> Session:
    session = instance(Session, row)
    session.is_answering = is_answering
    return session
