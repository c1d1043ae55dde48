"""Stores digests of the latest request per session and model, to estimate how much of the next one is cached upstream.

In Redis, not in the database: the entries expire like the prefix caches of model servers.
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


class PrefixKey(NamedTuple):
    """Identifies the latest request of a session to a model."""

    session: str
    model: str


def redis_key(session_id: Any) -> str:
    """Return the key of a hash: model name -> digests of its latest request, in JSON."""
    return f"turnwire:{{{session_id}}}:sent"


def read_digests(keys: Iterable[PrefixKey]) -> dict[PrefixKey, list[str]]:
    """Read the stored digests, oldest message first. Keys without digests are left out. Empty if Redis fails."""
    wanted = list(keys)
    try:
        with sync_redis().pipeline(transaction=False) as pipe:
            for prefix in wanted:
                pipe.hget(redis_key(prefix.session), prefix.model)
            stored: list[Any] = pipe.execute()
    except RedisError as error:
        logger.warning("prefix cache not read: %s", error)
        return {}
    return {prefix: list(json.decode(one)) for prefix, one in zip(wanted, stored, strict=True) if one}


def store_digests(latest: Mapping[PrefixKey, Sequence[str]]) -> None:
    if not latest:
        return
    try:
        with sync_redis().pipeline(transaction=False) as pipe:
            for prefix, digests in latest.items():
                pipe.hset(redis_key(prefix.session), prefix.model, json.encode(list(digests)).decode())
                pipe.expire(redis_key(prefix.session), TTL_S)
            pipe.execute()
    except RedisError as error:
        logger.warning("prefix cache not stored: %s", error)
