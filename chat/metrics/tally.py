"""Sums of all processes' counters in Redis.

Each process adds its increments every two seconds; web processes read the sums. Workers need no port for metrics, and
any web process can serve /metrics. Counts of the last two seconds of a process are lost with kill -9, and an emptied
Redis starts again from 0, as after a restart.
"""

import atexit
import json
import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import Any, Final, cast

from prometheus_client import CollectorRegistry, Metric
from redis.exceptions import RedisError

from chat.infrastructure.background import start_thread
from chat.infrastructure.redis_client import sync_redis
from chat.metrics.counters import REGISTRY
from chat.metrics.presence import KEY, Announcement, Role, Work

EVERY_S: Final = 2.0


class Tally:
    """Pushes the increments of this process. Thread-safe."""

    def __init__(
        self,
        role: Role,
        work: Callable[[], Work] = Work,
        registry: CollectorRegistry = REGISTRY,
        key: str = KEY,
    ) -> None:
        self._announcement = Announcement(role, work, key)
        self._registry = registry
        self._key = key
        self._pushed: dict[str, float] = {}
        self._lock = threading.Lock()

    def push(self) -> None:
        """Add the increments to the sums and write the presence of this process.
        Raises RedisError; the next push then does both."""
        with self._lock, sync_redis().pipeline(transaction=True) as pipe:
            counted = {_field(s.name, s.labels): s.value for s in _samples(self._registry.collect())}
            for field, value in counted.items():
                # Zeros are pushed once: a histogram needs its lower buckets.
                if value != self._pushed.get(field):
                    pipe.hincrbyfloat(f"{self._key}:sums", field, value - self._pushed.get(field, 0.0))
            self._announcement.write(pipe)
            pipe.execute()
            self._pushed = counted

    def end(self) -> None:
        """Push for the last time, and delete the presence of this process. Raises RedisError."""
        self.push()
        self._announcement.withdraw()


def keep_pushing(role: Role, work: Callable[[], Work] = Work) -> None:
    """Push in a background thread until the process ends. work: returns the work it takes, called at each push."""
    tally = Tally(role, work)
    start_thread("metrics", partial(_push_periodically, tally))
    atexit.register(_if_possible, tally.end)


def sums(registry: CollectorRegistry = REGISTRY, key: str = KEY) -> list[Metric]:
    """Return the sums over all processes, zeros included. Raises RedisError."""
    stored = cast("dict[bytes, bytes]", sync_redis().hgetall(f"{key}:sums"))
    known = {field.decode(): float(value) for field, value in stored.items()}
    return [_summed(family, known) for family in registry.collect()]


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
    """Return a sort key: buckets in ascending order, grouped by their other labels."""
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
        _if_possible(tally.push)


def _if_possible(push: Callable[[], None]) -> None:
    with suppress(RedisError):
        push()
