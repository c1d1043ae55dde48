"""Temporary sessions: in no list, and deleted for good when their owner leaves them, or after a time without use
(decision 0050)."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.conf import settings
from django.utils import timezone

from chat.models import Session
from chat.protocol.errors import ApiError

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
