"""Changes several sessions of one owner at once: all of them, or none."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from typing import Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from chat.events import session_list
from chat.events.session_changed import record_session_changed
from chat.models import Session
from chat.models.session import SessionQuerySet
from chat.presenters.sessions import annotate_sessions
from chat.protocol.errors import ApiError
from chat.sessions import deletion

# Each has an event of its own, in one transaction.
MAX_SESSIONS: Final = 100


def change_sessions(owner: User, ids: Sequence[UUID], action: str) -> None:
    """action: a name of ACTIONS.  ids: distinct.

    Raises ApiError if one of them is not there for the owner, or for `restore` not in the trash; then nothing was changed.
    """
    ACTIONS[action](owner, ids)


def _set_archived(owner: User, ids: Sequence[UUID], *, is_archived: bool) -> None:
    with transaction.atomic():
        for session in _lock(Session.objects.visible_to(owner).listed(), ids):
            if session.is_archived != is_archived:
                session.change(is_archived=is_archived)
                record_session_changed(session)


def _delete(owner: User, ids: Sequence[UUID]) -> None:
    """Into the trash; without one each is deleted for good by itself, after all were found."""
    keep = timedelta(days=settings.KEEP_DELETED_DAYS)
    with transaction.atomic():
        sessions = _lock(Session.objects.visible_to(owner).listed(), ids)
        if keep:
            Session.objects.filter(pk__in=ids).move_all_to_trash(keep)
    for session in sessions:
        if keep:
            deletion.after_trashing(session)
        else:
            _delete_for_good(session)


def _delete_for_good(session: Session) -> None:
    """One that was deleted meanwhile is what it was to become."""
    with suppress(ApiError):
        deletion.delete_for_good(session)


def _restore(owner: User, ids: Sequence[UUID]) -> None:
    with transaction.atomic():
        _lock(Session.with_trash.visible_to(owner).in_trash(), ids)
        Session.with_trash.filter(pk__in=ids).restore()
        for session in annotate_sessions(Session.objects.filter(pk__in=ids)):
            session_list.publish_row(session)


def _lock(sessions: SessionQuerySet, ids: Sequence[UUID]) -> list[Session]:
    """In the order of their ids, so that two requests do not wait for each other."""
    locked = list(sessions.filter(pk__in=ids).order_by("pk").select_for_update(no_key=True))
    if len(locked) != len(ids):
        raise ApiError("session_not_found", field="ids")
    return locked


ACTIONS: Final[dict[str, Callable[[User, Sequence[UUID]], None]]] = {
    "archive": partial(_set_archived, is_archived=True),
    "unarchive": partial(_set_archived, is_archived=False),
    "delete": _delete,
    "restore": _restore,
}
