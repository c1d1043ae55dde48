"""What a session's models were sent last, as digests of the messages: the next request is compared with it.

In Redis and not in the database: forgotten when a model server would have forgotten it as well.
"""

import logging
from collections.abc import Sequence
from typing import Any, Final

from msgspec import json
from redis.exceptions import RedisError

from chat.redis_client import sync_redis

logger = logging.getLogger(__name__)

# Prefix caches of model servers rarely hold anything for longer.
TTL_S: Final = 3600


def key(session_id: Any) -> str:
    """A hash: model name -> digests of its latest request, in JSON."""
    return f"turnwire:{{{session_id}}}:sent"


def recall(session_id: Any, model: str) -> list[str]:
    """Oldest first; empty if nothing is known."""
    try:
        held: Any = sync_redis().hget(key(session_id), model)
    except RedisError as error:
        logger.warning("session %s: what was sent before is not known: %s", session_id, error)
        return []
    return list(json.decode(held)) if held else []


def remember(session_id: Any, model: str, digests: Sequence[str]) -> None:
    try:
        with sync_redis().pipeline(transaction=False) as pipe:
            pipe.hset(key(session_id), model, json.encode(list(digests)).decode())
            pipe.expire(key(session_id), TTL_S)
            pipe.execute()
    except RedisError as error:
        logger.warning("session %s: what was sent is not remembered: %s", session_id, error)
