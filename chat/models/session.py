"""Session: one chat, the owner of a message tree with exactly one empty root. SessionEvent: a numbered event of it."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from psycopg.types.json import Jsonb

from chat.models.agent import Agent
from chat.models.listed_sessions import ListedSessionQuerySet
from chat.models.role import Role
from chat.models.run_options import AreOptions
from chat.models.sql import sessions
from chat.models.sql.rows import SessionRow
from chat.models.sql.statements import Query, instance, literals, together
from chat.transcript.answer_settings import SessionSettings, WhileAnswering, split_settings
from knowledge.models import Project
from knowledge.models.struct_field import Merged, StructField

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import Model


class AreSettings(models.Func):
    """Whether a JSON value, or NULL, has settings that every release knows. AreOptions is asked for its options."""

    template = f"COALESCE(%(expressions)s ->> 'while_answering', '') IN ('', {literals(WhileAnswering)})"
    output_field = models.BooleanField()


class OptionsIn(models.Func):
    """The run options in a JSON value of settings, or in NULL. Without parameters, since AreOptions repeats it."""

    template = "COALESCE(%(expressions)s -> 'options', '{}'::jsonb)"
    output_field = models.JSONField()


class SessionQuerySet(ListedSessionQuerySet["Session"]):
    def get_owned(self, user: User, pk: UUID | str) -> Session | None:
        """Read a session of the user, in a way that is cheap enough for every send; None if it is not theirs."""
        row = sessions.READ_OWN.first(session=pk, user=user.pk)
        return instance(self.model, row) if row else None

    def start(self, owner: User, **fields: Any) -> Session:
        """Store a new session with its root."""
        with transaction.atomic():
            changed, others = split_settings(fields)
            session = self.create(
                owner=owner,
                has_own_models=bool(fields.get("models")),
                settings=SessionSettings(**changed),
                **others,
            )
            root = session.messages.create(role=Role.ROOT)
            session.leaf = root
            self.filter(pk=session.pk).update(leaf=root)
        return session

    def lock(self, pk: UUID | str) -> Session:
        """Lock the session (FOR NO KEY UPDATE), so that changes to one tree happen one after the other; return it.

        Raises DoesNotExist, also for a session in the trash: nothing is started there.
        """
        return self.locked(sessions.LOCK.all(session=pk))

    def lock_any(self, pk: UUID | str) -> Session:
        """Lock a session as lock() does, also in the trash: what was begun before may end there."""
        return self.locked(sessions.LOCK_ANY.all(session=pk))

    def locked(self, rows: list[SessionRow]) -> Session:
        """Return the session of the rows of sql.sessions.LOCK. Raises DoesNotExist."""
        if not rows:
            raise self.model.DoesNotExist
        return instance(self.model, rows[0])


_Manager = models.Manager.from_queryset(SessionQuerySet)


class SessionManager(_Manager["Session"]):
    """Omits the sessions in the trash, which are deleted for everybody, except that their owner's trash lists them."""

    def get_queryset(self) -> SessionQuerySet:
        return SessionQuerySet(self.model, using=self._db).filter(deleted_at=None)


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
    # Its size (sql/usage.py), as the sweeper measured it last, and whether it has had no event since.
    stored_bytes = models.BigIntegerField(default=0, db_default=0, editable=False)
    is_measured = models.BooleanField(default=False, db_default=False, editable=False)
    settings = StructField(SessionSettings)
    # Whether bases were picked with one of its questions: only then a turn looks for those of its branch.
    has_picked_bases = models.BooleanField(default=False, db_default=False)
    # Whether the owner has chosen `models` for the session, so that they answer turns which name none; otherwise the
    # agent's models do, or the default one: a client that names models for one turn has not chosen them for the others.
    has_own_models = models.BooleanField(default=False, db_default=False)
    # How its owner keeps it: above the others in the list, and in the archive instead of the list.
    is_pinned = models.BooleanField(default=False, db_default=False)
    is_archived = models.BooleanField(default=False, db_default=False)
    # For a session in the trash: when its owner deleted it, and when the sweeper deletes it for good.
    deleted_at = models.DateTimeField(null=True, blank=True, editable=False)
    purge_at = models.DateTimeField(null=True, blank=True, editable=False)
    # For a temporary session: when the sweeper deletes it for good, unless it is in use then.
    temporary_until = models.DateTimeField(null=True, blank=True, editable=False)
    # Its messages were deleted from below this one, which may be gone since (chat/turns/deletion.py).
    part_of = models.UUIDField(null=True, blank=True, editable=False)
    # The owner's words for it, in the order in which they were added (chat/sessions/settings.py).
    tags = ArrayField(models.CharField(max_length=40), default=list, db_default=[], blank=True)
    # Names of the models that the owner chose or a turn named last; empty: neither has happened. The last field: below
    # it the name `models` refers to this field, not to the module.
    models = ArrayField(models.CharField(max_length=200), default=list, db_default=[], blank=True)

    # Set only where the query selects them: a turn has not ended; a run of one waits for its user.
    is_answering: bool
    is_waiting: bool

    objects = SessionManager()
    with_trash = SessionQuerySet.as_manager()

    class Meta:
        ordering = ("-updated_at", "-id")
        indexes = [
            models.Index(fields=["owner", "-updated_at", "-id"], name="session_by_owner"),
            models.Index(fields=["updated_at"], name="session_by_age"),
            models.Index(fields=["id"], condition=models.Q(is_measured=False), name="session_unmeasured"),
            models.Index(
                fields=["owner", "-deleted_at", "-id"],
                condition=models.Q(deleted_at__isnull=False),
                name="session_trash",
            ),
            models.Index(
                fields=["purge_at"], condition=models.Q(purge_at__isnull=False), name="session_to_purge"
            ),
            models.Index(
                fields=["temporary_until"],
                condition=models.Q(temporary_until__isnull=False),
                name="session_temporary",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    AreSettings(models.F("settings")),
                    AreOptions(OptionsIn(models.F("settings"))),
                ),
                name="session_settings_known",
            ),
            models.CheckConstraint(
                condition=models.Q(deleted_at__isnull=True, purge_at__isnull=True)
                | models.Q(deleted_at__isnull=False, purge_at__isnull=False),
                name="session_in_trash_is_purged",
            ),
            models.CheckConstraint(
                condition=models.Q(temporary_until__isnull=True)
                | models.Q(is_pinned=False, is_archived=False, project__isnull=True),
                name="temporary_session_is_in_no_list",
            ),
        ]

    def __str__(self) -> str:
        return self.title or f"session {self.pk}"

    # Mutators

    def point_at(self, leaf: Model) -> None:
        """Make this message the tip of the current branch. The caller holds the session's lock."""
        type(self).objects.filter(pk=self.pk).update(leaf=leaf, updated_at=models.functions.Now())
        self.leaf_id = leaf.pk

    def change(self, **fields: Any) -> None:
        """Set what the owner may edit (title, models, is_pinned and so on), without moving it in the list."""
        if "title" in fields:
            fields["has_provisional_title"] = False
        if "models" in fields:
            fields["has_own_models"] = bool(fields["models"])
        if fields.pop("is_temporary", None) is False:
            fields["temporary_until"] = None
        changed, fields = split_settings(fields)
        if changed:
            # Merged where it is stored: what is not changed here stays, also what this version does not know.
            fields["settings"] = Merged("settings", changed)
        if fields:
            type(self).objects.filter(pk=self.pk).update(**fields)

    def record(self, kind: str, payload: dict[str, Any], *changes: Query[Any]) -> SessionEvent:
        """Store one event with the next number, in the caller's transaction. changes: executed before it, in one round trip.

        The UPDATE locks the row until commit, so n is contiguous and n committed means n-1 committed.
        """
        record = sessions.RECORD.query(session=self.pk, kind=kind, payload=Jsonb(payload))
        *_, [recorded] = together(*changes, record)
        return SessionEvent.recorded(recorded, kind, payload)

    def mark_seen(self, n: int | None) -> Session | None:
        """Note that the owner has seen all up to event n (None: all). Returns the new row; None: nothing changed."""
        row = sessions.MARK_SEEN.first(session=self.pk, n=n)
        return _listed(row) if row else None

    # Queries

    def own_prompt(self) -> str:
        """Return the text beside the base prompt: the agent's, or else the project's instructions; then the session's.

        An agent that replaces the system prompt has no base prompt: without any text there is no system message at all.
        """
        return "\n\n".join(filter(None, (self._inherited_prompt(), self.settings.prompt.strip())))

    def _inherited_prompt(self) -> str:
        own = self.agent.prompt.strip() if self.agent else ""
        if own or (self.agent and self.agent.replaces_system_prompt):
            return own
        return self.project.instructions.strip() if self.project else ""

    # Properties

    @property
    def chosen_tools(self) -> set[str]:
        """The names of the agent's tools and the session's own."""
        return {*self.settings.tools, *(self.agent.tools if self.agent_id and self.agent else ())}

    @property
    def own_reminder(self) -> str:
        texts = (self.agent.reminder if self.agent_id and self.agent else "", self.settings.reminder)
        return "\n\n".join(text for one in texts if (text := one.strip()))

    @property
    def own_models(self) -> list[str]:
        """The models that answer a turn which names none; empty: the agent's, or the default one."""
        return self.models if self.has_own_models else []

    @property
    def is_unnamed(self) -> bool:
        """Whether this row meets listed_sessions.UNNAMED."""
        return not self.is_temporary and (not self.title or self.has_provisional_title)

    @property
    def is_temporary(self) -> bool:
        """Whether it is in no list, and deleted when its owner has left it."""
        return self.temporary_until is not None

    @property
    def is_unread(self) -> bool:
        """Whether a turn has ended since the owner last saw it."""
        return self.answered_event > self.seen_event


class SessionEvent(models.Model):
    """An event that concerns the session rather than one run: turn_started, run_continued, overall_stop, compression,
    session.

    The row is the truth and the session's log in Redis its live copy: a client whose `since` the log no longer holds
    is served from the rows. Only the newest KEEP_EVENTS_PER_SESSION are kept (chat/sweeper/upkeep.py).
    """

    session = models.ForeignKey(Session, on_delete=models.CASCADE, related_name="events")
    n = models.BigIntegerField()
    kind = models.CharField(max_length=20)
    payload = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        # For the sweeper, which looks for the newest of all sessions every second.
        indexes = [models.Index(fields=["created_at"], name="session_event_by_age")]
        constraints = [models.UniqueConstraint(fields=["session", "n"], name="one_event_per_number")]

    def __str__(self) -> str:
        return f"{self.kind} {self.n}"

    @classmethod
    def recorded(cls, row: sessions.RecordedEvent, kind: str, payload: dict[str, Any]) -> SessionEvent:
        """Build the event that a statement has just stored."""
        session = _listed(row)
        return cls(pk=row.id, session=session, n=row.n, kind=kind, payload=payload, created_at=row.created_at)


def _listed(row: sessions.ListedSession | sessions.RecordedEvent) -> Session:
    session = instance(Session, row.session)
    session.is_answering, session.is_waiting = row.is_answering, row.is_waiting
    return session
