"""Tells all sockets of a user that a login, a token or the account itself may have ended, so that they check it now.

At most once and without content: a socket that misses the message checks by itself (web/socket/access_watch.py).
"""

import logging
from functools import partial

from django.db import transaction
from redis.exceptions import RedisError

from chat.infrastructure.redis_client import sync_redis

logger = logging.getLogger(__name__)


def channel_name(user_id: int) -> str:
    return f"turnwire:user:{user_id}:access"


def announce_change(user_id: int) -> None:
    """Publish the change after the commit."""
    transaction.on_commit(partial(_publish, user_id))


def _publish(user_id: int) -> None:
    try:
        sync_redis().publish(channel_name(user_id), b"changed")
    except RedisError as error:
        logger.warning("user %s: sockets are closed at their next check: %s", user_id, error)
