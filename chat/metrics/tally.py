"""The sums over all processes, in Redis: each adds what it counted every two seconds, any web process reads them.

So workers need no port, however many a host runs, and it does not matter which web process is asked. What a process
counted in its last two seconds is lost with kill -9, and an emptied Redis starts again from 0, as after a restart.
"""

import atexit
import json
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Final, Literal, cast
from uuid import uuid4

from prometheus_client import CollectorRegistry, Metric
from redis.exceptions import RedisError

from chat.infrastructure.redis_client import sync_redis
from chat.metrics.counters import OPEN_SOCKETS, REGISTRY

Role = Literal["web", "llm", "sweeper", "compression"]

EVERY_S: Final = 2.0
# A process that has said nothing for this long is gone.
PRESENT_S: Final = 15
# One hash tag, so that all of it lies in one slot.
KEY: Final = "turnwire:{metrics}"


class Tally:
    """This process's part. May be pushed from any thread."""

    def __init__(self, role: Role, registry: CollectorRegistry = REGISTRY, key: str = KEY) -> None:
        self._role = role
        self._registry = registry
        self._key = key
        self._process = uuid4().hex
        self._told: dict[str, float] = {}
        self._lock = threading.Lock()

    def push(self) -> None:
        """Add what is new to the sums, and say that this process lives. Raises RedisError: the next push says it."""
        with self._lock, sync_redis().pipeline(transaction=True) as pipe:
            counted = {_field(s.name, s.labels): s.value for s in _samples(self._registry.collect())}
            for field, value in counted.items():
                # Zeros are told once: a histogram without its lower buckets is none.
                if value != self._told.get(field):
                    pipe.hincrbyfloat(f"{self._key}:sums", field, value - self._told.get(field, 0.0))
            pipe.sadd(f"{self._key}:processes", self._process)
            presence = json.dumps([self._role, len(OPEN_SOCKETS)])
            pipe.set(f"{self._key}:process:{self._process}", presence, ex=PRESENT_S)
            pipe.execute()
            self._told = counted


def keep_pushing(role: Role) -> None:
    """From now on until the process ends, in a thread of its own."""
    tally = Tally(role)
    threading.Thread(target=_push_for_ever, args=[tally], name="metrics", daemon=True).start()
    atexit.register(_push_if_possible, tally)


def sums(registry: CollectorRegistry = REGISTRY, key: str = KEY) -> list[Metric]:
    """What all processes counted together, zeros included. Raises RedisError."""
    held = cast("dict[bytes, bytes]", sync_redis().hgetall(f"{key}:sums"))
    known = {field.decode(): float(value) for field, value in held.items()}
    return [_summed(family, known) for family in registry.collect()]


def present(key: str = KEY) -> list[tuple[str, int]]:
    """(role, open sockets) of every process that lives. Raises RedisError."""
    redis: Any = sync_redis()
    names = sorted(redis.smembers(f"{key}:processes"))
    said = redis.mget([f"{key}:process:{name.decode()}" for name in names]) if names else []
    gone = [name for name, presence in zip(names, said, strict=True) if presence is None]
    if gone:
        redis.srem(f"{key}:processes", *gone)
    return [(role, sockets) for role, sockets in map(json.loads, filter(None, said))]


def _summed(family: Metric, known: dict[str, float]) -> Metric:
    found = {_field(s.name, s.labels): 0.0 for s in _samples([family])}
    names = {family.name + suffix for suffix in ("_total", "_bucket", "_count", "_sum")}
    found |= {field: value for field, value in known.items() if json.loads(field)[0] in names}
    metric = Metric(family.name, family.documentation, family.type)
    for field in sorted(found, key=_place):
        name, labels = json.loads(field)
        metric.add_sample(name, labels, found[field])
    return metric


def _place(field: str) -> tuple[list[Any], str, float]:
    """Buckets belong in their order, beside the others of their labels."""
    name, labels = json.loads(field)
    bound = float(labels.pop("le", 0))
    return sorted(labels.items()), name, bound


def _samples(families: Iterable[Metric]) -> list[Any]:
    # When a process began to count says nothing about a sum.
    return [s for family in families for s in family.samples if not s.name.endswith("_created")]


def _field(name: str, labels: dict[str, str]) -> str:
    return json.dumps([name, labels], sort_keys=True)


def _push_for_ever(tally: Tally) -> None:
    while True:
        time.sleep(EVERY_S)
        _push_if_possible(tally)


def _push_if_possible(tally: Tally) -> None:
    with suppress(RedisError):
        tally.push()
