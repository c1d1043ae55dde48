"""The threads in which a worker process uses the ORM.

The event loop never touches the database, and no connection is held between calls. Loading long branches and extending
leases have threads of their own: however long loading takes, no lease expires meanwhile and no other run waits.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError
from psycopg.errors import QueryCanceled

from chat.infrastructure import log_context
from chat.infrastructure.background import with_connection

# Each thread takes a connection from the pool only while it works; a claim or an end takes some milliseconds.
THREADS: Final = 8
LOADING_THREADS: Final = 3
RETRY_MIN_S: Final = 0.1
RETRY_MAX_S: Final = 1.0

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger(__name__)


class Database:
    """Runs functions that use the ORM in threads. One instance per process, used on its event loop."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "database")
        self._loading_threads = ThreadPoolExecutor(LOADING_THREADS, "loading")
        self._lease_thread = ThreadPoolExecutor(1, "leases")

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` in one of the threads. Cancelling the caller does not interrupt it."""
        return await _run_in(self._threads, partial(function, *args, **kwargs))

    async def call_with_retry(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` as call() does, again with back-off while Postgres is unreachable. It must be idempotent."""
        work = partial(function, *args, **kwargs)
        return await _repeat(lambda: _run_in(self._threads, work))

    async def load(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a `function` that may take long, as call_with_retry() does. Raises LoadingTimeout if a statement does."""
        work = partial(_load, partial(function, *args, **kwargs))
        return await _repeat(lambda: _run_in(self._loading_threads, work))

    async def extend_leases(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` as call() does, without waiting for other calls."""
        return await _run_in(self._lease_thread, partial(function, *args, **kwargs))

    def close(self) -> None:
        """Shut the threads down. Returns when all work is done."""
        for threads in (self._threads, self._loading_threads, self._lease_thread):
            threads.shutdown()


class LoadingTimeout(Exception):
    """A statement took longer than the database allows this process."""


async def _run_in(threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
    return await asyncio.get_running_loop().run_in_executor(
        threads, partial(log_context.in_context(with_connection), work)
    )


async def _repeat(call: Callable[[], Awaitable[T]]) -> T:
    retry_s = RETRY_MIN_S
    while True:
        try:
            return await call()
        except (OperationalError, InterfaceError) as error:
            logger.warning("Postgres is unreachable or busy, retrying: %s", error)
        await asyncio.sleep(retry_s)
        retry_s = min(RETRY_MAX_S, retry_s * 2)


def _load(work: Callable[[], T]) -> T:
    try:
        return work()
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise LoadingTimeout(str(error)) from error
        raise
