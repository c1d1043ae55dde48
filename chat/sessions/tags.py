"""The tags of sessions: words that a user gives them. A tag exists while a session has it.

Tags are compared without regard to case, and each is spelt as the user's other sessions spell it. Here is what creating,
changing and importing a session needs; features/tags has their routes, renames and deletes them.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Final
from uuid import UUID

from django.contrib.auth.models import User
from msgspec import Meta

from chat.models import Session
from chat.models.sql import sessions
from chat.models.sql.sessions import UsedTag
from chat.protocol.body import Visible, rule
from chat.protocol.errors import ApiError
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
