"""Runs that wait for a model server that takes few requests at once: stored by workers, read for watching clients."""

from collections.abc import Collection
from typing import Final

from chat.infrastructure.redis_client import async_redis

# A worker stores the place of a waiting run again more often than this.
KEPT_MS: Final = 3_000


async def announce_wait(run: str, place: int) -> None:
    """Store that a run waits, for KEPT_MS. place: its place in the queue, from 1. Raises RedisError."""
    await async_redis().set(_key(run), place, px=KEPT_MS)


async def end_wait(run: str) -> None:
    """Delete the stored place of a run. Raises RedisError."""
    await async_redis().delete(_key(run))


async def read_waits(runs: Collection[str]) -> dict[str, int]:
    """Return the places of the runs that wait. Raises RedisError."""
    if not runs:
        return {}
    places = await async_redis().mget([_key(run) for run in runs])
    return {run: int(place) for run, place in zip(runs, places, strict=True) if place is not None}


def _key(run: str) -> str:
    return f"turnwire:run:{run}:waits"
