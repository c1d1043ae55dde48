"""Publishes changes of a user's lists of sessions and projects to all of the user's sockets: rows created, changed and deleted.

At most once, on one pub/sub channel per user, and stored nowhere: a client that missed a change reads the list again.
"""

import logging
from functools import partial
from typing import Final

from django.db import transaction
from redis.exceptions import RedisError

from chat.events.frames import ProjectChanged, SessionChanged, SessionDeleted
from chat.infrastructure.redis_client import sync_redis
from chat.models import Session
from chat.presenters.sessions import listed_members
from chat.protocol.wire import encode
from knowledge.models import Project

logger = logging.getLogger(__name__)

# Kinds of events that change a row of the list; a compression does not.
LISTED_KINDS: Final = frozenset({"turn_started", "run_continued", "overall_stop", "session"})


def channel_name(user_id: int) -> str:
    return f"turnwire:user:{user_id}:sessions"


def encode_changed(session: Session) -> bytes:
    """Encode the message `session_changed`: the session's row of the list. is_answering and is_waiting must be set."""
    return encode(
        SessionChanged.from_row(session, session.settings, session=session.pk, **listed_members(session))
    )


def publish_created(session: Session) -> None:
    """Publish a new session, which has no turns yet, after the commit."""
    session.is_answering = session.is_waiting = False
    _publish_on_commit(session)


def publish_row(session: Session) -> None:
    """Publish a new or changed row after the commit. is_answering and is_waiting must be set."""
    _publish_on_commit(session)


def publish_deleted(session: Session) -> None:
    """Publish the committed deletion of a session, into the trash or for good."""
    publish(session.owner_id, encode(SessionDeleted(session.pk)))


def publish_project(project: Project) -> None:
    """Publish the committed creation of a project, or a committed change of its fields or files, by its id."""
    publish(project.owner_id, encode(ProjectChanged(project.pk)))


def mark_seen(session: Session, n: int | None) -> None:
    """Store that the owner has seen the session up to event n (None: all); publish it if it was unread."""
    seen = session.mark_seen(n)
    if seen is not None:
        _publish_on_commit(seen)


def _publish_on_commit(session: Session) -> None:
    """Publish the row after the commit, except for a temporary session, which is in no list."""
    if session.is_temporary:
        return
    transaction.on_commit(partial(publish, session.owner_id, encode_changed(session)))


def publish(user_id: int, line: bytes) -> None:
    """Send a line to all sockets of the user that watch the list.
    If Redis fails, the message is lost and the loss is logged: the change itself is committed."""
    try:
        sync_redis().publish(channel_name(user_id), line)
    except RedisError as error:
        logger.warning("user %s: a change of the session list is not published: %s", user_id, error)
