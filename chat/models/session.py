"""Session: one chat, owner of a message tree with exactly one empty root. SessionEvent: its numbered news."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any, Self

from django.conf import settings
from django.db import models, transaction
from psycopg.types.json import Jsonb

from chat.models.agent import Agent
from chat.models.sql import session_search, statements
from knowledge.models import Project

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from chat.models.message import ChatMessage


class WhileAnswering(models.TextChoices):
    """What a new turn does when the tip of the branch is still being answered."""

    REJECT = "reject"
    ENQUEUE = "enqueue"
    INTERRUPT = "interrupt"


# Neither its owner nor a model has named it.
UNNAMED = models.Q(title="") | models.Q(has_makeshift_title=True)
# The same in SQL, of a row `session`.
IS_UNNAMED = "(session.title = '' OR session.has_makeshift_title)"


class SessionQuerySet(models.QuerySet["Session"]):
    def visible_to(self, user: Any) -> Self:
        """The user's own sessions; everybody else's do not exist for them."""
        return self.filter(owner=user)

    def own(self, user: Any, pk: Any) -> Session | None:
        """One of visible_to(user), as every send asks for it; None if it is not theirs."""
        return _session(statements.first(_OWN, {"session": pk, "user": user.pk}))

    def search(self, owner: Any, text: str) -> Self:
        """The owner's whose title or messages have these words, or words that begin so; all of them without a text."""
        own = self.visible_to(owner)
        return own.filter(pk__in=session_search.found(owner.pk, text)) if text.strip() else own

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
        return self.locked(statements.every(LOCK, {"session": pk}))

    def locked(self, rows: list[Any]) -> Session:
        """What LOCK has found."""
        session = _session(rows[0] if rows else None)
        if session is None:
            raise self.model.DoesNotExist
        return session

    def set_title(self, pk: Any, title: str) -> bool:
        """Name a session that has no title to stay; False: it has one, or is gone. It stays where it is in the list."""
        return bool(self.filter(UNNAMED, pk=pk).update(title=title, has_makeshift_title=False))

    def set_provisional_title(self, pk: Any, title: str) -> bool:
        """Until there is a better one. False: it has some title, or is gone."""
        return bool(self.filter(pk=pk, title="").update(title=title, has_makeshift_title=True))


class Session(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="sessions")
    title = models.CharField(max_length=200, blank=True, default="")
    # The title is the beginning of a question that has no answer: a better one replaces it.
    has_makeshift_title = models.BooleanField(default=False, db_default=False)
    agent = models.ForeignKey(
        Agent, null=True, blank=True, on_delete=models.SET_NULL, related_name="sessions"
    )
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.SET_NULL, related_name="sessions"
    )
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
    # Up to which event its owner has seen it, and the newest one that ended a turn.
    seen_event = models.BigIntegerField(default=0)
    answered_event = models.BigIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    is_answering: bool  # a turn of it has not ended; only of rows that were asked for it

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

    def point_at(self, leaf: ChatMessage) -> None:
        """Make `leaf` the tip of the current branch. The caller holds the session's lock."""
        type(self).objects.filter(pk=self.pk).update(leaf=leaf, updated_at=models.functions.Now())
        self.leaf = leaf

    def change(self, **fields: Any) -> None:
        """Set what the owner may edit: title, while_answering, agent, project. It stays where it is in the list."""
        if "title" in fields:
            fields["has_makeshift_title"] = False
        if fields:
            type(self).objects.filter(pk=self.pk).update(**fields)

    def record(self, kind: str, payload: dict[str, Any], *changes: statements.Asked) -> SessionEvent:
        """Number and keep one event, in the caller's transaction. changes: made before, in the same round trip.

        The UPDATE locks the row until commit, so n is contiguous and n committed means n-1 committed.
        """
        given = {"session": self.pk, "kind": kind, "payload": Jsonb(payload)}
        *_, [recorded] = statements.together(*changes, (_RECORD, given))
        return SessionEvent.of(recorded, kind, payload)

    def see(self, n: int | None) -> Session | None:
        """Its owner has seen it up to event n (None: all there is); the row as it is now. None: nothing new was seen."""
        return _listed(statements.first(_SEE, {"session": self.pk, "n": n}))

    # Queries

    def tip(self) -> ChatMessage:
        """Where the current branch ends; only its place in the tree is loaded."""
        from chat.models.message import ChatMessage

        return ChatMessage.objects.place(self.leaf_id) if self.leaf_id else self.root

    def own_prompt(self) -> str:
        """What stands beside the base prompt: the agent's own, or else the project's instructions."""
        agent = self.agent.prompt.strip() if self.agent else ""
        return agent or (self.project.instructions.strip() if self.project else "")

    # Properties

    @property
    def is_unnamed(self) -> bool:
        """UNNAMED, of this row."""
        return not self.title or self.has_makeshift_title

    @property
    def is_unread(self) -> bool:
        """A turn has ended since it was last seen."""
        return self.answered_event > self.seen_event

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

    @classmethod
    def of(cls, row: Any, kind: str, payload: dict[str, Any]) -> SessionEvent:
        """As it has just been stored. row: the event's id, number and time, then the session's columns and whether it is being answered."""
        pk, n, created_at = row[:3]
        session = _listed(row[3:])
        return cls(pk=pk, session=session, n=n, kind=kind, payload=payload, created_at=created_at)


_COLUMNS = statements.columns(Session, "session")
_NAMES = statements.names(Session)
# Of a session in a list: itself, and whether it is being answered.
_LISTED = f"""{_COLUMNS}, EXISTS (
        SELECT FROM chat_turn AS turn WHERE turn.session_id = session.id AND turn.ended_at IS NULL
    )"""
_OWN = f"SELECT {_COLUMNS} FROM chat_session AS session WHERE id = %(session)s AND owner_id = %(user)s"  # noqa: S608
LOCK = f"SELECT {_COLUMNS} FROM chat_session AS session WHERE id = %(session)s FOR NO KEY UPDATE"  # noqa: S608
_RECORD = f"""
    WITH session AS (
        UPDATE chat_session SET
            latest_event = latest_event + 1,
            answered_event = CASE %(kind)s::text WHEN 'overall_stop' THEN latest_event + 1 ELSE answered_event END
        WHERE id = %(session)s RETURNING *
    ), event AS (
        INSERT INTO chat_sessionevent (session_id, n, kind, payload, created_at)
        SELECT id, latest_event, %(kind)s, %(payload)s, STATEMENT_TIMESTAMP() FROM session
        RETURNING id, n, created_at
    )
    SELECT event.*, {_LISTED} FROM event, session
"""  # noqa: S608  names of columns alone
_SEE = f"""
    UPDATE chat_session AS session SET seen_event = LEAST(COALESCE(%(n)s, latest_event), latest_event)
    WHERE id = %(session)s AND seen_event < answered_event
        AND seen_event < LEAST(COALESCE(%(n)s, latest_event), latest_event)
    RETURNING {_LISTED}
"""  # noqa: S608


def _session(row: Any) -> Session | None:
    return None if row is None else statements.instance(Session, _NAMES, row)


def _listed(row: Any) -> Session | None:
    session = _session(row and row[:-1])
    if session is not None:
        session.is_answering = row[-1]
    return session
