"""Creates sessions and changes their settings, tags among them; the event `session` reaches the owner's other tabs.

Tags are compared without regard to case, and each is spelt as the user's other sessions spell it. Here is what creating,
changing and importing a session needs; features/tags has their routes, renames and deletes them.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from msgspec import Meta

from chat.events import session_list
from chat.events.session_events import record_session_changed
from chat.models import Session, StoredBytes
from chat.models.sql import sessions
from chat.models.sql.sessions import UsedTag
from chat.protocol.answer import with_members
from chat.protocol.body import Body, Visible, rule
from chat.protocol.errors import ApiError
from chat.runs import quotas
from chat.transcript.answer_settings import SessionSettings

# Fields that put a session into a list.
_PLACES: Final = ("project", "is_pinned", "is_archived", "tags")


def lifetime() -> timedelta:
    """Return how long a temporary session is kept while it is not in use."""
    return timedelta(minutes=settings.TEMPORARY_CHAT_MINUTES)


def temporary_until(fields: Mapping[str, Any]) -> datetime:
    """Return when a new session with these fields expires.
    Raises ApiError if temporary sessions are disabled, or if it would be in a project, pinned, archived or tagged."""
    if not settings.TEMPORARY_CHAT_MINUTES:
        raise ApiError("invalid_value", "There are no temporary chats here.", field="is_temporary")
    _check_places(fields)
    return timezone.now() + lifetime()


def check_listed(session: Session) -> None:
    """Raise ApiError if the session is temporary: no part of it may be copied to where it outlives the session."""
    if session.is_temporary:
        raise ApiError("temporary_session")


def check_changes(session: Session, fields: Mapping[str, Any]) -> None:
    """Raise ApiError if a temporary session would be in a list and is not kept. The caller holds the session's lock."""
    if session.is_temporary and fields.get("is_temporary") is not False:
        _check_places(fields)


def _check_places(fields: Mapping[str, Any]) -> None:
    for name in _PLACES:
        if fields.get(name):
            raise ApiError("temporary_session", field=name)


MAX_CHARACTERS: Final = 40
# Limits per session, and of different tags per user.
MAX_TAGS: Final = 20
MAX_NAMES: Final = 200


def clean(names: Iterable[str]) -> list[str]:
    """Return the names with single spaces between words, each once regardless of case. Blank names are left out."""
    kept: dict[str, str] = {}
    for name in names:
        if spelt := " ".join(name.split()):
            kept.setdefault(spelt.lower(), spelt)
    return [*kept.values()]


def _check_tag(tag: str) -> str:
    if not clean([tag]):
        raise ApiError("invalid_value")
    return tag


# One tag. Surrounding and repeated spaces are removed.
Tag = Annotated[Visible, Meta(max_length=MAX_CHARACTERS), rule(_check_tag)]
# The tags of a session. A repeated tag, regardless of case, counts once.
Tags = Annotated[list[Tag], Meta(max_length=MAX_TAGS), rule(clean)]


def list_tags(user: User, but: UUID | None = None) -> list[UsedTag]:
    """Return the tags of the user's sessions in alphabetical order. but: a session that is left out."""
    return sessions.LIST.all(user=user.pk, but=but)


def choose_tags(owner: User, wanted: Sequence[str], session: UUID | None = None) -> list[str]:
    """Return the tags for a session, spelt as in the owner's other sessions. session: None for a new session.

    Locks the owner until the transaction ends if there are tags. Raises ApiError if the owner would have too many.
    """
    names = clean(wanted)
    if not names:
        return names
    quotas.lock_user(owner)
    known = _names_by_key(owner, session)
    if len(known.keys() | {name.lower() for name in names}) > MAX_NAMES:
        raise ApiError("too_many_tags", max=MAX_NAMES)
    return [known.get(name.lower(), name) for name in names]


def adopt_tags(session: Session, wanted: Sequence[str]) -> None:
    """Give a session that has just been imported the tags of its file, as far as its owner has room for them."""
    names = clean(wanted)[:MAX_TAGS]
    if not names:
        return
    quotas.lock_user(session.owner)
    known = _names_by_key(session.owner, session.pk)
    room = MAX_NAMES - len(known)
    new = [name for name in names if name.lower() not in known][: max(room, 0)]
    session.tags = [known.get(name.lower(), name) for name in names if name.lower() in known or name in new]
    session.change(tags=session.tags)


def _names_by_key(user: User, but: UUID | None) -> dict[str, str]:
    return {tag.name.lower(): tag.name for tag in list_tags(user, but)}


if TYPE_CHECKING:
    SettingsBody = Body
else:
    # The others have rules that only requests have.
    SettingsBody = with_members(
        Body, SessionSettings, without=("tools", "knowledge_bases", "options"), are_optional=True
    )


def edit_session(session: Session, fields: dict[str, Any]) -> None:
    """Set members of SessionSettings, or title, agent, project, models, tags, is_pinned, is_archived, or is_temporary (only to
    False: the session is kept).

    Raises ApiError if the session or its new agent or project is gone, if it is temporary and would be in a list, or
    if the owner has too many tags. A new agent brings its own models, unless `models` is set too. Without fields
    nothing is recorded.
    """
    if not fields:
        return
    with transaction.atomic():
        hold_references(fields)
        try:
            locked = Session.objects.lock(session.pk)
        except Session.DoesNotExist:
            raise ApiError("session_not_found") from None
        check_changes(locked, fields)
        if "tags" in fields:
            fields = {**fields, "tags": choose_tags(locked.owner, fields["tags"], locked.pk)}
        if "agent" in fields and getattr(fields["agent"], "pk", None) != locked.agent_id:
            fields = {"models": [], **fields}
        locked.change(**fields)
        record_session_changed(locked)


def hold_references(fields: dict[str, Any]) -> None:
    """Lock agent and project in `fields` against deletion in this transaction. Raises ApiError if one is gone."""
    for noun in ("agent", "project"):
        row = fields.get(noun)
        if row is not None and not row.hold():
            raise ApiError(f"{noun}_not_found", field=noun)


def create_session(owner: User, **fields: Any) -> Session:
    """Create a session with its root, and publish it after the commit.

    Raises ApiError if the owner has too many sessions or tags, the agent or project is gone, or it cannot be temporary.
    """
    if fields.pop("is_temporary", False):
        fields["temporary_until"] = temporary_until(fields)
    with quotas.SESSIONS.room_for_one(owner):
        hold_references(fields)
        if fields.get("tags"):
            fields["tags"] = choose_tags(owner, fields["tags"])
        session = Session.objects.start(owner, **fields)
        session_list.publish_created(session)
    return session


def add_stored_session(session: Session) -> None:
    """Store the row of a session whose messages this transaction stores. Raises ApiError if its owner has no room.

    Call it last in the transaction, so that the owner's row is locked only for a moment.
    """
    with quotas.SESSIONS.room_for_one(session.owner):
        Session.objects.bulk_create([session])
        StoredBytes.objects.measure(session.pk)
        quotas.check_storage(session.owner_id, StoredBytes.objects.sum_of(session.owner_id), 0)
        StoredBytes.objects.refresh(session.owner_id)
