"""Runs work outside the caller: in threads, in background tasks that must not end, and after a commit.

A task or thread in the background that fails is logged and started again. Otherwise an unexpected exception would end it
silently: the process lives on and counts as healthy, but the work of the task is never done again.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import Executor
from functools import partial, update_wrapper
from typing import Final, ParamSpec, TypeVar

from django.db import close_old_connections, transaction

from chat.infrastructure import log_context

logger = logging.getLogger(__name__)

# From a failure to the next start: a lasting fault writes one log record per second.
RESTART_S: Final = 1.0
FAILED: Final = "background work failed and starts again: %s"


def start_task(name: str, work: Callable[[], Awaitable[None]]) -> asyncio.Task[None]:
    """Await work() in a task until it returns or is cancelled; repeat it after an exception. Keep the task."""
    return asyncio.create_task(_repeat(name, work), name=name)


def start_thread(name: str, work: Callable[[], None]) -> threading.Thread:
    """Call work() in a daemon thread until it returns; repeat it after an exception."""
    thread = threading.Thread(target=_repeat_in_thread, args=[name, work], name=name, daemon=True)
    thread.start()
    return thread


async def _repeat(name: str, work: Callable[[], Awaitable[None]]) -> None:
    while True:
        try:
            return await work()
        except Exception:
            logger.exception(FAILED, name)
        await asyncio.sleep(RESTART_S)


def _repeat_in_thread(name: str, work: Callable[[], None]) -> None:
    while True:
        try:
            return work()
        except Exception:
            logger.exception(FAILED, name)
        time.sleep(RESTART_S)


Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


async def in_thread(
    function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """Call function(*args) in a thread of the loop's executor; then return its database connection to the pool."""
    return await in_thread_of(None, function, *args, **kwargs)


async def in_thread_of(
    executor: Executor | None,
    function: Callable[Parameters, Result],
    *args: Parameters.args,
    **kwargs: Parameters.kwargs,
) -> Result:
    """Call a function as in_thread() does, in a thread of `executor`; None means the executor of the loop."""
    # Not asgiref's bridge, whose callbacks to the loop cost more than a query.
    loop = asyncio.get_running_loop()
    work = log_context.in_context(with_connection)
    return await loop.run_in_executor(executor, lambda: work(function, *args, **kwargs))


def with_connection(
    function: Callable[Parameters, Result], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> Result:
    """Call the function, then return its connection to the pool (CONN_MAX_AGE is 0)."""
    close_old_connections()
    try:
        return function(*args, **kwargs)
    finally:
        close_old_connections()


def call_after_commit(
    function: Callable[Parameters, object], *args: Parameters.args, **kwargs: Parameters.kwargs
) -> None:
    """Call function(*args) once the transaction is committed. Django logs a failure; the caller is not told."""
    call = partial(function, *args, **kwargs)
    # Django logs the name of the function, which a partial does not have by itself.
    update_wrapper(call, function)
    transaction.on_commit(call, robust=True)
