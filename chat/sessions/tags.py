"""The tags of sessions: a user's own words for them. A tag exists while a session has it.

A user's tags are told apart without regard to capitals, and each is spelt as the user's other sessions spell it.
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
# Of a session, and different ones of a user.
MAX_TAGS: Final = 20
MAX_NAMES: Final = 200


def clean(names: Iterable[str]) -> list[str]:
    """Without space around the words and between them, each once; blank ones are left out."""
    kept: dict[str, str] = {}
    for name in names:
        if spelt := " ".join(name.split()):
            kept.setdefault(spelt.lower(), spelt)
    return [*kept.values()]


def list_tags(user: User) -> list[UsedTag]:
    """In the order of the alphabet."""
    return tags.LIST.all(user=user.pk, but=None)


def choose_tags(owner: User, wanted: Sequence[str], session: UUID | None = None) -> list[str]:
    """The tags that a session is to have, as the others spell them. session: None: a new one.

    Locks the owner until the end of the transaction. Raises ApiError if the owner would have too many different ones.
    """
    names = clean(wanted)
    if not names:
        return names
    quotas.lock_user(owner)
    known = _known(owner, session)
    if len(known.keys() | {name.lower() for name in names}) > MAX_NAMES:
        raise ApiError("too_many_tags", max=MAX_NAMES)
    return [known.get(name.lower(), name) for name in names]


def adopt_tags(session: Session, wanted: Sequence[str]) -> None:
    """Give a session that has just been stored the tags of its file, as far as its owner has room for them."""
    names = clean(wanted)[:MAX_TAGS]
    if not names:
        return
    quotas.lock_user(session.owner)
    known = _known(session.owner, session.pk)
    room = MAX_NAMES - len(known)
    new = [name for name in names if name.lower() not in known][: max(room, 0)]
    session.tags = [known.get(name.lower(), name) for name in names if name.lower() in known or name in new]
    session.change(tags=session.tags)


def rename_tag(user: User, tag: str, name: str) -> UsedTag:
    """Rename a tag in all sessions of the user; one that has both keeps one. Raises ApiError if no session has it."""
    [spelt] = clean([name])
    others = {key: one for key, one in _known(user, None).items() if key != _key(tag)}
    spelt = others.get(spelt.lower(), spelt)
    _replace(user, tag, spelt)
    return next(one for one in list_tags(user) if one.name.lower() == spelt.lower())


def delete_tag(user: User, tag: str) -> None:
    """Remove a tag from all sessions of the user. Raises ApiError if no session has it."""
    _replace(user, tag, None)


def _replace(user: User, tag: str, name: str | None) -> None:
    """One event tells of all sessions."""
    spelt = " ".join(tag.split())
    if not tags.REPLACE.all(user=user.pk, tag=spelt, name=name):
        raise ApiError("tag_not_found", field="tag")
    session_list.publish(user.pk, encode(TagChanged(tag=spelt, name=name)))


def _known(user: User, but: UUID | None) -> dict[str, str]:
    return {one.name.lower(): one.name for one in tags.LIST.all(user=user.pk, but=but)}


def _key(tag: str) -> str:
    return " ".join(tag.split()).lower()
