"""The threads in which a worker process uses the ORM.

The event loop never touches the database, and no connection is held between calls.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final, ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError

from chat.infrastructure.threads import with_connection

# Each takes a connection from the pool only while it works; a claim or an end takes some milliseconds.
THREADS: Final = 8
RETRY_MIN_S: Final = 0.1
RETRY_MAX_S: Final = 1.0

P = ParamSpec("P")
T = TypeVar("T")

logger = logging.getLogger(__name__)


class Database:
    """One per process, used on its event loop."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, "database")

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` in one of the threads. Cancelling the caller does not interrupt it."""
        work = partial(with_connection, function, *args, **kwargs)
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

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
        """Return when all work is done."""
        self._threads.shutdown()
