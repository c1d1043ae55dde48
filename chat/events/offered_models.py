"""Tells all sockets that the models which users may choose have changed, on one pub/sub channel for everybody.

At most once, without content and stored nowhere: clients read the models by REST.
"""

import logging
from typing import Final

from redis.exceptions import RedisError

from chat.events.frames import ModelsChanged
from chat.infrastructure.background import call_after_commit
from chat.infrastructure.redis_client import sync_redis
from chat.protocol.wire import encode

logger = logging.getLogger(__name__)

CHANNEL: Final = "turnwire:models"


def announce_change() -> None:
    """Publish the change after the commit."""
    call_after_commit(_publish)


def _publish() -> None:
    try:
        sync_redis().publish(CHANNEL, encode(ModelsChanged()))
    except RedisError as error:
        logger.warning("pages show other models when they are loaded again: %s", error)
