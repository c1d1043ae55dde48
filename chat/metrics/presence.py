"""Presence: the description that every live process keeps of itself in Redis, for the workers page and /metrics.

A process writes its own key with each push of its counters (tally.py). The key expires when the process dies or
freezes. How long a process has been silent follows from the time to live of its key: no clocks of hosts are compared.
"""

import os
import socket
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, Literal, NamedTuple
from uuid import uuid4

import msgspec
from celery.worker import state
from django.conf import settings

from chat.infrastructure.redis_client import sync_redis

Role = Literal["web", "llm", "sweeper", "compression", "ingest"]

# A process that has been silent for this long counts as ended.
PRESENT_S: Final = 15
# A process that is silent for longer may take no more work: it is not counted in the slots of its queues. Redis rounds
# times to live to the second, so a worker that was killed is not counted after 5 s; and one of its pushes may be late.
FRESH_S: Final = 4.0
# One hash tag, so that all keys are in one slot.
KEY: Final = "turnwire:{metrics}"


class Work(msgspec.Struct, frozen=True, omit_defaults=True):
    """The work that a worker takes. queues: the queues it reads.  slots: tasks at a time at most.  busy: tasks now.

    owner: as in the column of runs; None: it holds no runs.
    """

    queues: tuple[str, ...] = ()
    slots: int = 0
    busy: int = 0
    is_draining: bool = False
    owner: int | None = None


class Process(msgspec.Struct, frozen=True, omit_defaults=True):
    """A live process. work: the work it takes.  sockets: the number of open ones.

    silent_s: since the process last wrote its key, to the second; not stored.
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
    """The presence of this process: written with a pipeline, and withdrawn at its end."""

    def __init__(self, role: Role, work: Callable[[], Work], key: str = KEY) -> None:
        self._role = role
        self._work = work
        self._names = f"{key}:present"
        self._name = f"{key}:present:{uuid4().hex}"

    def write(self, pipe: Any) -> None:
        from chat.metrics.counters import OPEN_SOCKETS  # imports models, which readers do not need

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
        """Delete the presence of this process. Raises RedisError."""
        sync_redis().delete(self._name)


def live_processes(key: str = KEY) -> list[Process]:
    """Return the live processes by role, host and pid. Raises RedisError.
    Processes of other versions whose description cannot be decoded are left out."""
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
    """The workers of one queue. workers, slots, busy: of processes that take work.  draining: that only finish."""

    queue: str
    workers: int
    slots: int
    busy: int
    draining: int


def pools(processes: Sequence[Process], known: Iterable[str] = ()) -> list[Pool]:
    """Return the pools of all queues that a worker reads and of `known` queues, by name of the queue.
    A worker of several queues has its slots in each."""
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


def celery_work(consumer: Any, owner: int | None = None) -> Callable[[], Work]:
    """Return a function that describes the current work of a Celery worker.

    It is called at each push: queues may be added and cancelled while the worker runs.
    consumer: the sender of the signal `worker_ready`.  owner: as in the column of runs.
    """

    def work() -> Work:
        queues = tuple(sorted(consumer.app.amqp.queues.consume_from))
        is_draining = state.should_stop is not None or state.should_terminate is not None
        return Work(queues, consumer.controller.concurrency, len(state.active_requests), is_draining, owner)

    return work
