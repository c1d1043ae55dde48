"""Runs database work of asynchronous code in threads, so that it never blocks the event loop."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

from chat.infrastructure import log_context

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
