"""Changes several sessions of one owner at once: all of them, or none."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import timedelta
from functools import partial
from operator import attrgetter
from typing import Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from chat.events import session_list
from chat.events.session_events import record_session_changed
from chat.models import Session
from chat.models.session import SessionQuerySet
from chat.presenters.sessions import annotate_sessions
from chat.protocol.errors import ApiError
from chat.sessions import deletion

# Each session is changed with an event of its own, all in one transaction.
MAX_SESSIONS: Final = 100


def change_sessions(owner: User, ids: Sequence[UUID], action: str) -> Sequence[Session]:
    """Apply `action`, a name of ACTIONS, to the sessions with these distinct ids; return those that `restore` has left in
    the trash: deleted messages, which belong to another session (chat/turns/deletion.py).

    Raises ApiError if the owner has no such session, or for `restore` none in the trash; then nothing was changed.
    """
    return ACTIONS[action](owner, ids) or ()


def _set_archived(owner: User, ids: Sequence[UUID], *, is_archived: bool) -> None:
    with transaction.atomic():
        for session in _lock(Session.objects.visible_to(owner).listed(), ids):
            if session.is_archived != is_archived:
                session.change(is_archived=is_archived)
                record_session_changed(session)


def _delete(owner: User, ids: Sequence[UUID]) -> None:
    """Move the sessions to the trash. Without a trash, delete each for good by itself, once all are known to exist."""
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
    """Delete a session for good. Ignore one that was deleted meanwhile."""
    with suppress(ApiError):
        deletion.delete_for_good(session)


def _restore(owner: User, ids: Sequence[UUID]) -> Sequence[Session]:
    with transaction.atomic():
        locked = _lock(Session.with_trash.visible_to(owner).in_trash(), ids)
        whole = [session.pk for session in locked if session.part_of is None]
        Session.with_trash.filter(pk__in=whole).restore()
        for session in annotate_sessions(Session.objects.filter(pk__in=whole)):
            session_list.publish_row(session)
    # What was deleted last may be of what was deleted before it.
    parts = [session for session in locked if session.part_of]
    return sorted(parts, key=attrgetter("deleted_at"), reverse=True)


def _lock(sessions: SessionQuerySet, ids: Sequence[UUID]) -> list[Session]:
    """Lock the sessions in the order of their ids, which prevents deadlocks. Raises ApiError if one is missing."""
    locked = list(sessions.filter(pk__in=ids).order_by("pk").select_for_update(no_key=True))
    if len(locked) != len(ids):
        raise ApiError("session_not_found", field="ids")
    return locked


ACTIONS: Final[dict[str, Callable[[User, Sequence[UUID]], Sequence[Session] | None]]] = {
    "archive": partial(_set_archived, is_archived=True),
    "unarchive": partial(_set_archived, is_archived=False),
    "delete": _delete,
    "restore": _restore,
}
