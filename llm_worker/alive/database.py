"""The ORM's threads. The event loop never touches the database, and no connection is held between calls."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import ParamSpec, TypeVar

from chat.threads import with_connection

# Each takes a connection from the pool only while it works; a claim or an end takes some milliseconds.
THREADS = 8

P = ParamSpec("P")
T = TypeVar("T")


class Database:
    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="database")

    async def call(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `function` in one of the threads. Cancelling the caller does not interrupt it."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, lambda: with_connection(function, *args, **kwargs))

    def close(self) -> None:
        self._threads.shutdown(wait=True)
