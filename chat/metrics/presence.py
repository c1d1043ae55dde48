"""Presence: what every live process says of itself in Redis, for the workers page and /metrics.

A process writes its own key with each push of its counters (tally.py). The key expires when the process dies or freezes, and
how long a process has been silent follows from the time that its key still has: no clocks of hosts are compared.
"""

import os
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple
from uuid import uuid4

import msgspec
from django.conf import settings

from chat.infrastructure.redis_client import sync_redis

Role = Literal["web", "llm", "sweeper", "compression", "ingest"]

# A process that has been silent for this long counts as ended.
PRESENT_S: Final = 15
# One that has been silent for longer than this may take no more work: it is not counted in the slots of its queues.
FRESH_S: Final = 5.0
# One hash tag, so that all keys are in one slot.
KEY: Final = "turnwire:{metrics}"


class Work(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a worker takes. queues: that it reads.  slots: tasks side by side, `busy` of them now.

    owner: as in the column of runs; None: it holds no runs.
    """

    queues: tuple[str, ...] = ()
    slots: int = 0
    busy: int = 0
    is_draining: bool = False
    owner: int | None = None


class Process(msgspec.Struct, frozen=True, omit_defaults=True):
    """A live process. work: what it takes.  sockets: that are open.

    silent_s: since it last said this, to the second; not stored.
    """

    role: Role
    host: str
    pid: int
    version: str
    work: Work = Work()
    sockets: int = 0
    silent_s: float = 0.0

    @property
    def takes_work(self) -> bool:
        return not self.work.is_draining and self.silent_s <= FRESH_S


_decode: Final = msgspec.json.Decoder(Process).decode


class Announcement:
    """Of this process: written with a pipeline, and withdrawn at its end."""

    def __init__(self, role: Role, work: Callable[[], Work], key: str = KEY) -> None:
        self._role = role
        self._work = work
        self._names = f"{key}:present"
        self._name = f"{key}:present:{uuid4().hex}"

    def write(self, pipe: Any) -> None:
        from chat.metrics.counters import OPEN_SOCKETS  # which need models; who reads needs none

        process = Process(
            self._role,
            socket.gethostname(),
            os.getpid(),
            settings.VERSION,
            self._work(),
            len(OPEN_SOCKETS),
        )
        pipe.sadd(self._names, self._name)
        pipe.set(self._name, msgspec.json.encode(process), ex=PRESENT_S)

    def withdraw(self) -> None:
        """Raises RedisError."""
        sync_redis().delete(self._name)


def live_processes(key: str = KEY) -> list[Process]:
    """By role, host and pid. Those of another version that says something else are left out. Raises RedisError."""
    redis: Any = sync_redis()
    names = sorted(redis.smembers(f"{key}:present"))
    with redis.pipeline(transaction=False) as pipe:
        for name in names:
            pipe.get(name)
            pipe.ttl(name)
        replies = pipe.execute()
    stored = list(zip(names, replies[::2], replies[1::2], strict=True))
    if ended := [name for name, process, _ in stored if process is None]:
        redis.srem(f"{key}:present", *ended)
    found = [_read(process, left_s) for _, process, left_s in stored if process is not None]
    return sorted(filter(None, found), key=lambda process: (process.role, process.host, process.pid))


def _read(stored: bytes, left_s: int) -> Process | None:
    try:
        process = _decode(stored)
    except msgspec.DecodeError:
        return None
    return msgspec.structs.replace(process, silent_s=max(0.0, PRESENT_S - left_s))


class Pool(NamedTuple):
    """What serves one queue. workers, slots, busy: of processes that take work.  draining: those that only finish."""

    queue: str
    workers: int
    slots: int
    busy: int
    draining: int


def pools(processes: Sequence[Process], known: Iterable[str] = ()) -> list[Pool]:
    """By the name of the queue: of those that somebody reads, and of `known` ones. A worker of several has its slots in each."""
    queues = sorted({*known, *(queue for process in processes for queue in process.work.queues)})
    return [_pool(queue, [one for one in processes if queue in one.work.queues]) for queue in queues]


def _pool(queue: str, processes: Sequence[Process]) -> Pool:
    takers = [process for process in processes if process.takes_work]
    return Pool(
        queue,
        len(takers),
        sum(process.work.slots for process in takers),
        sum(process.work.busy for process in takers),
        sum(process.work.is_draining for process in processes),
    )
