"""What all tabs and browsers of a user hear of the user's sessions: how each looks in the list, as it changes.

Told once, on a channel of the user's own, and kept nowhere: whoever missed something reads the list again.
"""

import logging
from functools import partial
from typing import Any, Final

from django.db import transaction
from redis.exceptions import RedisError

from chat.infrastructure.redis_client import sync_redis
from chat.models import Session
from chat.presenters.sessions import present_listed_session
from chat.protocol.wire import encode

logger = logging.getLogger(__name__)

# Events that change a row of the list; a compression does not.
LISTED_KINDS: Final = frozenset({"turn_started", "overall_stop", "session"})


def channel(user_id: Any) -> str:
    return f"turnwire:user:{user_id}:sessions"


def changed(session: Session) -> bytes:
    """The session as its row in the list shows it now. is_answering must be known."""
    return encode({"type": "session_changed", "session": str(session.pk), **present_listed_session(session)})


def tell_made(session: Session) -> Session:
    """Of a new session, once it is committed; nothing answers in it yet."""
    session.is_answering = False
    _tell_on_commit(session)
    return session


def tell_deleted(session: Session) -> None:
    _tell(session.owner_id, encode({"type": "session_deleted", "session": str(session.pk)}))


def see(session: Session, n: int | None) -> None:
    """Its owner has seen it up to event n, or all there is; the other tabs hear of it if it was unread."""
    seen = session.see(n)
    if seen is not None:
        _tell_on_commit(seen)


def _tell_on_commit(session: Session) -> None:
    transaction.on_commit(partial(_tell, session.owner_id, changed(session)))


def _tell(user_id: Any, line: bytes) -> None:
    """With Redis away nobody hears it; what is told of is done all the same."""
    try:
        sync_redis().publish(channel(user_id), line)
    except RedisError as error:
        logger.warning("user %s: a change of the list is not told: %s", user_id, error)
