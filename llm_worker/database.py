"""Runs ORM calls of the event loop in threads. No connection is held between calls."""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError

from chat.infrastructure.threads import with_connection

logger = logging.getLogger(__name__)

# Each takes a connection from the pool only during a call; a claim or an end takes some milliseconds.
THREADS = 8
RETRY_MIN_S = 0.1
RETRY_MAX_S = 1.0

P = ParamSpec("P")
T = TypeVar("T")


class Database:
    """A thread pool. A call goes to the most recently used thread, whose caches are warm; if all are busy, it queues.

    Not concurrent.futures: its futures, and passing them to the event loop, cost a quarter of a call.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: list[_Thread] = []
        self._idle: list[_Thread] = []
        self._waiting: deque[_Job] = deque()
        self._is_closed = False

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` in a thread and return its result. Cancelling the caller does not interrupt it."""
        job = _Job(partial(with_connection, function, *args, **kwargs))
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the database threads are closed")
            thread = self._free_thread()
            if thread is None:
                self._waiting.append(job)
        if thread is not None:
            thread.give(job)
        return await job.done  # type: ignore[no-any-return]

    async def call_with_retry(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Like call(), repeated with back-off while Postgres is unreachable. `function` must be idempotent."""
        retry_s = RETRY_MIN_S
        while True:
            try:
                return await self.call(function, *args, **kwargs)
            except (OperationalError, InterfaceError) as error:
                logger.warning("Postgres is unreachable, retrying: %s", error)
            await asyncio.sleep(retry_s)
            retry_s = min(RETRY_MAX_S, retry_s * 2)

    def close(self) -> None:
        """Returns when all calls are done."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for thread in idle:
            thread.give(None)
        for thread in self._threads:
            thread.join()

    def _free_thread(self) -> "_Thread | None":
        if self._idle:
            return self._idle.pop()
        if len(self._threads) >= THREADS:
            return None
        thread = _Thread(self._next, f"database_{len(self._threads)}")
        self._threads.append(thread)
        thread.start()
        return thread

    def _next(self, thread: "_Thread") -> "_Job | None":
        """The next queued job for the thread; None: it becomes idle, or ends."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            if self._is_closed:
                thread.is_ending = True
            else:
                self._idle.append(thread)
            return None


class _Thread(threading.Thread):
    """next_job: called after each job."""

    def __init__(self, next_job: Callable[["_Thread"], "_Job | None"], name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.is_ending = False
        self._next_job = next_job
        self._job: _Job | None = None
        self._has_job = threading.Lock()
        self._has_job.acquire()

    def give(self, job: "_Job | None") -> None:
        """Hand a job to this idle thread. None: end."""
        self._job = job
        self.is_ending = job is None
        self._has_job.release()

    def run(self) -> None:
        while not self.is_ending:
            self._has_job.acquire()
            job, self._job = self._job, None
            while job is not None:
                result, error = job.execute()
                following = self._next_job(
                    self
                )  # before the result is reported: the next call finds this thread idle
                job.report(result, error)
                job = following


class _Job:
    """One call and the future of its result. Created on the event loop that awaits it."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[Any] = self._loop.create_future()

    def execute(self) -> tuple[Any, BaseException | None]:
        if self.done.cancelled():
            return None, None
        try:
            return self._function(), None
        except BaseException as error:  # noqa: BLE001  the edge of a thread: the caller gets it
            return None, error

    def report(self, result: Any, error: BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._settle, result, error)

    def _settle(self, result: Any, error: BaseException | None) -> None:
        if self.done.done():  # cancelled
            return
        if error is None:
            self.done.set_result(result)
        else:
            self.done.set_exception(error)
