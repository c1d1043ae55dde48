"""Renames and deletes a tag in all sessions of its user."""

from typing import Final, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User

from chat.events import session_list
from chat.events.frames import TagChanged
from chat.models.sql.sessions import HAS_TAG, UsedTag
from chat.models.sql.statements import Statement
from chat.protocol.errors import ApiError
from chat.protocol.wire import encode
from chat.sessions.settings import clean, list_tags


class _ChangedSession(NamedTuple):
    id: UUID


# Parameters: user, tag, name (NULL: the tag is removed). A session that has both keeps one. Plan: session_by_owner.
_REPLACE: Final = Statement(
    f"""
    UPDATE chat_session SET tags = ARRAY(
        SELECT CASE WHEN lower(tag) = lower(%(tag)s) THEN %(name)s::text ELSE tag END
        FROM unnest(tags) WITH ORDINALITY AS one(tag, place)
        WHERE CASE WHEN lower(tag) = lower(%(tag)s) THEN %(name)s::text IS NOT NULL
            ELSE lower(tag) IS DISTINCT FROM lower(%(name)s::text) END
        ORDER BY place
    )
    WHERE owner_id = %(user)s AND {HAS_TAG.format(tag="%(tag)s")}
    RETURNING id
    """,  # noqa: S608  constants alone
    _ChangedSession,
)


def rename_tag(user: User, tag: str, name: str) -> UsedTag:
    """Rename a tag in all sessions of the user; a session with both keeps one. Raises ApiError if none has `tag`."""
    [spelt] = clean([name])
    names = {used.name.lower(): used.name for used in list_tags(user)}
    if spelt.lower() != " ".join(tag.split()).lower():
        spelt = names.get(spelt.lower(), spelt)
    _replace(user, tag, spelt)
    # Another request may have renamed it again, and Postgres has fewer small letters.
    named = (used for used in list_tags(user) if used.name.lower() == spelt.lower())
    return next(named, UsedTag(spelt, 0))


def delete_tag(user: User, tag: str) -> None:
    """Remove a tag from all sessions of the user. Raises ApiError if no session has it."""
    _replace(user, tag, None)


def _replace(user: User, tag: str, name: str | None) -> None:
    """Rename or remove (name: None) a tag in all sessions, with one event. Raises ApiError if no session has it."""
    spelt = " ".join(tag.split())
    if not _REPLACE.all(user=user.pk, tag=spelt, name=name):
        raise ApiError("tag_not_found", field="tag")
    session_list.publish(user.pk, encode(TagChanged(tag=spelt, name=name)))
