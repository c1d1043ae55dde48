"""Sums of all processes' counters in Redis: each process adds its increments every two seconds, web processes read them.

Workers need no port for metrics, and any web process can serve /metrics. What a process
counted in its last two seconds is lost with kill -9, and an emptied Redis starts again from 0, as after a restart.
"""

import atexit
import json
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Final, Literal, cast
from uuid import uuid4

from prometheus_client import CollectorRegistry, Metric
from redis.exceptions import RedisError

from chat.infrastructure.background import start_thread
from chat.infrastructure.redis_client import sync_redis
from chat.metrics.counters import OPEN_SOCKETS, REGISTRY

Role = Literal["web", "llm", "sweeper", "compression", "ingest"]

EVERY_S: Final = 2.0
# A process without a push for this long counts as ended.
PRESENT_S: Final = 15
# One hash tag, so that all keys are in one slot.
KEY: Final = "turnwire:{metrics}"


class Tally:
    """Pushes the increments of this process. Thread-safe."""

    def __init__(self, role: Role, registry: CollectorRegistry = REGISTRY, key: str = KEY) -> None:
        self._role = role
        self._registry = registry
        self._key = key
        self._process = uuid4().hex
        self._pushed: dict[str, float] = {}
        self._lock = threading.Lock()

    def push(self) -> None:
        """Add the increments to the sums and refresh the presence key. Raises RedisError; the next push then adds both."""
        with self._lock, sync_redis().pipeline(transaction=True) as pipe:
            counted = {_field(s.name, s.labels): s.value for s in _samples(self._registry.collect())}
            for field, value in counted.items():
                # Zeros are pushed once: a histogram needs its lower buckets.
                if value != self._pushed.get(field):
                    pipe.hincrbyfloat(f"{self._key}:sums", field, value - self._pushed.get(field, 0.0))
            pipe.sadd(f"{self._key}:processes", self._process)
            presence = json.dumps([self._role, len(OPEN_SOCKETS)])
            pipe.set(f"{self._key}:process:{self._process}", presence, ex=PRESENT_S)
            pipe.execute()
            self._pushed = counted


def keep_pushing(role: Role) -> None:
    """Push in a background thread until the process ends."""
    tally = Tally(role)
    start_thread("metrics", partial(_push_periodically, tally))
    atexit.register(_push_if_possible, tally)


def sums(registry: CollectorRegistry = REGISTRY, key: str = KEY) -> list[Metric]:
    """The sums over all processes, zeros included. Raises RedisError."""
    stored = cast("dict[bytes, bytes]", sync_redis().hgetall(f"{key}:sums"))
    known = {field.decode(): float(value) for field, value in stored.items()}
    return [_summed(family, known) for family in registry.collect()]


def present(key: str = KEY) -> list[tuple[str, int]]:
    """(role, open sockets) of every live process. Raises RedisError."""
    redis: Any = sync_redis()
    names = sorted(redis.smembers(f"{key}:processes"))
    presences = redis.mget([f"{key}:process:{name.decode()}" for name in names]) if names else []
    ended = [name for name, presence in zip(names, presences, strict=True) if presence is None]
    if ended:
        redis.srem(f"{key}:processes", *ended)
    return [(role, sockets) for role, sockets in map(json.loads, filter(None, presences))]


def _summed(family: Metric, known: dict[str, float]) -> Metric:
    found = {_field(s.name, s.labels): 0.0 for s in _samples([family])}
    names = {family.name + suffix for suffix in ("_total", "_bucket", "_count", "_sum")}
    found |= {field: value for field, value in known.items() if json.loads(field)[0] in names}
    metric = Metric(family.name, family.documentation, family.type)
    for field in sorted(found, key=_sort_key):
        name, labels = json.loads(field)
        metric.add_sample(name, labels, found[field])
    return metric


def _sort_key(field: str) -> tuple[list[Any], str, float]:
    """Sort key: buckets in ascending order, grouped by their other labels."""
    name, labels = json.loads(field)
    bound = float(labels.pop("le", 0))
    return sorted(labels.items()), name, bound


def _samples(families: Iterable[Metric]) -> list[Any]:
    # The start times of single processes have no meaning for a sum.
    return [s for family in families for s in family.samples if not s.name.endswith("_created")]


def _field(name: str, labels: dict[str, str]) -> str:
    return json.dumps([name, labels], sort_keys=True)


def _push_periodically(tally: Tally) -> None:
    while True:
        time.sleep(EVERY_S)
        _push_if_possible(tally)


def _push_if_possible(tally: Tally) -> None:
    with suppress(RedisError):
        tally.push()
