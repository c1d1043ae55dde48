"""The tags of sessions: words that a user gives them. A tag exists while a session has it.

Tags are compared without regard to case, and each is spelt as the user's other sessions spell it.
"""

from collections.abc import Iterable, Sequence
from typing import Final
from uuid import UUID

from django.contrib.auth.models import User

from chat.events import session_list
from chat.events.frames import TagChanged
from chat.models import Session
from chat.models.sql import tags
from chat.models.sql.tags import UsedTag
from chat.protocol.errors import ApiError
from chat.protocol.wire import encode
from chat.runs import quotas

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


def list_tags(user: User) -> list[UsedTag]:
    """Return the tags of the user in alphabetical order."""
    return tags.LIST.all(user=user.pk, but=None)


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


def rename_tag(user: User, tag: str, name: str) -> UsedTag:
    """Rename a tag in all sessions of the user; a session with both keeps one. Raises ApiError if none has `tag`."""
    [spelt] = clean([name])
    others = {key: one for key, one in _names_by_key(user, None).items() if key != _key(tag)}
    spelt = others.get(spelt.lower(), spelt)
    _replace(user, tag, spelt)
    return next(one for one in list_tags(user) if one.name.lower() == spelt.lower())


def delete_tag(user: User, tag: str) -> None:
    """Remove a tag from all sessions of the user. Raises ApiError if no session has it."""
    _replace(user, tag, None)


def _replace(user: User, tag: str, name: str | None) -> None:
    """Rename or remove (name: None) a tag in all sessions, with one event. Raises ApiError if no session has it."""
    spelt = " ".join(tag.split())
    if not tags.REPLACE.all(user=user.pk, tag=spelt, name=name):
        raise ApiError("tag_not_found", field="tag")
    session_list.publish(user.pk, encode(TagChanged(tag=spelt, name=name)))


def _names_by_key(user: User, but: UUID | None) -> dict[str, str]:
    return {one.name.lower(): one.name for one in tags.LIST.all(user=user.pk, but=but)}


def _key(tag: str) -> str:
    return " ".join(tag.split()).lower()
