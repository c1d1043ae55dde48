"""Creates sessions. Stored by SessionQuerySet.start(); imported ones by chat/sessions/portable/importer.py."""

from typing import Any

from django.contrib.auth.models import User

from chat.events import session_list
from chat.models import Session
from chat.runs import quotas
from chat.sessions.settings import hold_references


def create_session(owner: User, **fields: Any) -> Session:
    """A new session with its root, published after the commit.

    Raises ApiError if the owner has as many as allowed, or its agent or project is gone.
    """
    with quotas.SESSIONS.room_for_one(owner):
        hold_references(fields)
        session = Session.objects.start(owner, **fields)
        session_list.publish_created(session)
    return session
