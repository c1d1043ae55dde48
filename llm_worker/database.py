"""The ORM's threads. The event loop never touches the database, and no connection is held between calls."""

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

# Each takes a connection from the pool only while it works; a claim or an end takes some milliseconds.
THREADS = 8
RETRY_MIN_S = 0.1
RETRY_MAX_S = 1.0

P = ParamSpec("P")
T = TypeVar("T")


class Database:
    """Work goes to the thread that was busy last, which is the warmest; when all are busy it waits its turn.

    Not an executor, whose futures, and their way to the event loop's, cost a quarter of a visit.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._threads: list[_Thread] = []
        self._idle: list[_Thread] = []
        self._waiting: deque[_Work] = deque()
        self._is_closed = False

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` in one of the threads. Cancelling the caller does not interrupt it."""
        work = _Work(partial(with_connection, function, *args, **kwargs))
        with self._lock:
            if self._is_closed:
                raise RuntimeError("the threads have ended")
            thread = self._free()
            if thread is None:
                self._waiting.append(work)
        if thread is not None:
            thread.give(work)
        return await work.done  # type: ignore[no-any-return]

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
        """Returns when all work is done."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for thread in idle:
            thread.give(None)
        for thread in self._threads:
            thread.join()

    def _free(self) -> "_Thread | None":
        if self._idle:
            return self._idle.pop()
        if len(self._threads) >= THREADS:
            return None
        thread = _Thread(self._next, f"database_{len(self._threads)}")
        self._threads.append(thread)
        thread.start()
        return thread

    def _next(self, thread: "_Thread") -> "_Work | None":
        """What the thread does now; None: it is idle, or ends."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            if self._is_closed:
                thread.is_ending = True
            else:
                self._idle.append(thread)
            return None


class _Thread(threading.Thread):
    """next_work: asked when something is done."""

    def __init__(self, next_work: Callable[["_Thread"], "_Work | None"], name: str) -> None:
        super().__init__(name=name, daemon=True)
        self.is_ending = False
        self._next_work = next_work
        self._given: _Work | None = None
        self._is_given = threading.Lock()
        self._is_given.acquire()

    def give(self, work: "_Work | None") -> None:
        """To an idle thread. None: end."""
        self._given = work
        self.is_ending = work is None
        self._is_given.release()

    def run(self) -> None:
        while not self.is_ending:
            self._is_given.acquire()
            work, self._given = self._given, None
            while work is not None:
                result, error = work.carried_out()
                following = self._next_work(self)  # before anybody hears of it: who asks again finds it idle
                work.tell(result, error)
                work = following


class _Work:
    """Made on the event loop that waits for it."""

    def __init__(self, function: Callable[[], Any]) -> None:
        self._function = function
        self._loop = asyncio.get_running_loop()
        self.done: asyncio.Future[Any] = self._loop.create_future()

    def carried_out(self) -> tuple[Any, BaseException | None]:
        if self.done.cancelled():
            return None, None
        try:
            return self._function(), None
        except BaseException as error:  # noqa: BLE001  the edge of a thread: whoever waits gets it
            return None, error

    def tell(self, result: Any, error: BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop has ended
            self._loop.call_soon_threadsafe(self._settle, result, error)

    def _settle(self, result: Any, error: BaseException | None) -> None:
        if self.done.done():  # cancelled
            return
        if error is None:
            self.done.set_result(result)
        else:
            self.done.set_exception(error)
