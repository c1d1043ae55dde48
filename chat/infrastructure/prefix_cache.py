"""The latest request to each model of a session, as digests of its messages, to measure how much the next one repeats.

In Redis, with the lifetime of a model server's prefix cache.
"""

import logging
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec import json
from redis.exceptions import RedisError

from chat.infrastructure.redis_client import sync_redis

logger = logging.getLogger(__name__)

# Prefix caches of model servers rarely hold anything for longer.
TTL_S: Final = 3600


class Memory(NamedTuple):
    """Whose latest request it is."""

    session: str
    model: str


def key(session_id: Any) -> str:
    """A hash: model name -> digests of its latest request, in JSON."""
    return f"turnwire:{{{session_id}}}:sent"


def recall(memories: Iterable[Memory]) -> dict[Memory, list[str]]:
    """Digests, oldest first; those of which nothing is known are left out."""
    wanted = list(memories)
    try:
        with sync_redis().pipeline(transaction=False) as pipe:
            for memory in wanted:
                pipe.hget(key(memory.session), memory.model)
            held: list[Any] = pipe.execute()
    except RedisError as error:
        logger.warning("what was sent before is not known: %s", error)
        return {}
    return {memory: list(json.decode(one)) for memory, one in zip(wanted, held, strict=True) if one}


def remember(latest: Mapping[Memory, Sequence[str]]) -> None:
    if not latest:
        return
    try:
        with sync_redis().pipeline(transaction=False) as pipe:
            for memory, digests in latest.items():
                pipe.hset(key(memory.session), memory.model, json.encode(list(digests)).decode())
                pipe.expire(key(memory.session), TTL_S)
            pipe.execute()
    except RedisError as error:
        logger.warning("what was sent is not remembered: %s", error)
