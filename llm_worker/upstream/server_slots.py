"""Limits the number of requests that a model server receives at once, whichever processes send them.

Requests of runs are taken in the order in which they came. The others wait until a slot is free that no run waits for,
and are cancelled when a run waits. Redis stores who holds a slot and who waits, each for some seconds, so that a killed
process leaves nothing behind. While Redis cannot be reached, requests are sent without waiting.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final
from uuid import uuid4

from redis.exceptions import RedisError

from chat.infrastructure import log_context
from chat.infrastructure.background import start_task
from chat.infrastructure.redis_client import async_redis
from chat.infrastructure.server_waits import announce_wait, end_wait
from llm_worker.upstream.model_request import Request

logger = logging.getLogger(__name__)

POLL_S: Final = 0.2
# For requests that nobody watches while they wait.
ASIDE_POLL_S: Final = 1.0
EXTEND_S: Final = 1.0
HELD_MS: Final = 8_000
PLACE_KEPT_MS: Final = 3_000

# KEYS: until when each request holds its slot, the order in which waiting requests came, and until when each waits.
# Times are Redis's, in milliseconds; the order is a number, as several requests may come in one millisecond.
_BEGIN: Final = """
local call, clock = redis.call, redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
for _, gone in ipairs(call('ZRANGEBYSCORE', KEYS[3], '-inf', now)) do
  call('ZREM', KEYS[2], gone)
  call('ZREM', KEYS[3], gone)
end
"""
# Returns 0 if the slot is taken, else the place in the queue, from 1.
# ARGV: name, slots of the server, whether it is a run's, how long a slot is held, and how long a place is kept unless
# extended.
_TAKE: Final = f"""{_BEGIN}
local free = ARGV[2] - call('ZCARD', KEYS[1])
local place = call('ZCARD', KEYS[2])
if ARGV[3] == '1' then
  local last = call('ZRANGE', KEYS[2], -1, -1, 'WITHSCORES')[2] or 0
  call('ZADD', KEYS[2], 'NX', last + 1, ARGV[1])
  call('ZADD', KEYS[3], now + ARGV[5], ARGV[1])
  place = call('ZRANK', KEYS[2], ARGV[1])
end
if place >= free then return place - math.max(free, 0) + 1 end
call('ZREM', KEYS[2], ARGV[1])
call('ZREM', KEYS[3], ARGV[1])
call('ZADD', KEYS[1], now + ARGV[4], ARGV[1])
return 0
"""
# Returns 1 if runs wait for a slot that is not free.
# ARGV: name, slots of the server, how long the slot is held unless extended.
_EXTEND: Final = f"""{_BEGIN}
call('ZADD', KEYS[1], now + ARGV[3], ARGV[1])
return call('ZCARD', KEYS[2]) > math.max(ARGV[2] - call('ZCARD', KEYS[1]), 0) and 1 or 0
"""


class GaveWay(Exception):
    """A run waits for the slot: the request is cancelled, and may be made again."""


@dataclass(frozen=True)
class _Slot:
    """The slot of one request. name: its member in the sets of its server."""

    keys: tuple[str, ...]
    name: str
    slots: int
    is_of_run: bool

    @classmethod
    def from_request(cls, request: Request, slots: int) -> "_Slot":
        server = sha256(request.model.base_url.rstrip("/").encode()).hexdigest()[:16]
        keys = tuple(f"turnwire:{{server:{server}}}:{kind}" for kind in ("held", "order", "waiting"))
        return cls(keys, uuid4().hex, slots, not request.gives_way)

    async def take(self) -> int:
        """Try to take a slot. Return 0 if it is taken now, otherwise the place in the queue, from 1."""
        arguments = (self.name, self.slots, int(self.is_of_run), HELD_MS, PLACE_KEPT_MS)
        return int(await _evaluate(_TAKE, self.keys, arguments))

    async def extend(self) -> bool:
        """Hold the slot for longer. Return whether a run waits for a slot."""
        return bool(await _evaluate(_EXTEND, self.keys, (self.name, self.slots, HELD_MS)))

    async def leave(self) -> None:
        """Remove the request from all sets. Best effort: entries that are not removed expire."""
        with suppress(RedisError):
            async with async_redis().pipeline(transaction=False) as pipe:
                for key in self.keys:
                    pipe.zrem(key, self.name)
                await pipe.execute()


async def _evaluate(script: str, keys: tuple[str, ...], arguments: tuple[Any, ...]) -> Any:
    return await async_redis().eval(script, len(keys), *keys, *arguments)


@asynccontextmanager
async def server_slot(request: Request) -> AsyncIterator[None]:
    """Hold a slot of the server for the block, if its slots are limited. Raises GaveWay, not for requests of runs."""
    limit = request.model.max_requests
    if not limit:
        yield
        return
    slot = _Slot.from_request(request, limit)
    try:
        await _wait_for(slot)
        async with _renewed(slot):
            yield
    finally:
        await slot.leave()


async def _wait_for(slot: _Slot) -> None:
    run = str(log_context.current().get("run", "")) if slot.is_of_run else ""
    is_told = False
    try:
        while place := await slot.take():
            if run:
                is_told = True
                await announce_wait(run, place)
            await asyncio.sleep(POLL_S if slot.is_of_run else ASIDE_POLL_S)
    except RedisError as error:
        logger.warning("the model server is asked without a slot: %s", error)
    finally:
        if is_told:
            with suppress(RedisError):
                await end_wait(run)


@asynccontextmanager
async def _renewed(slot: _Slot) -> AsyncIterator[None]:
    async def keep(limit: asyncio.Timeout) -> None:
        while True:
            await asyncio.sleep(EXTEND_S)
            with suppress(RedisError):
                if await slot.extend() and not slot.is_of_run:
                    limit.reschedule(asyncio.get_running_loop().time())
                    return

    try:
        async with asyncio.timeout(None) as limit:
            keeper = start_task("slot of a model server", lambda: keep(limit))
            try:
                yield
            finally:
                keeper.cancel()
    except TimeoutError:
        if limit.expired():
            raise GaveWay from None
        raise
