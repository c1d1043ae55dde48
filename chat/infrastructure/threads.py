"""Runs database work of async code in threads, never on the event loop."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

Given = ParamSpec("Given")
Result = TypeVar("Result")


async def in_thread(function: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
    """function(*args) in a thread of its own; its database connection goes back to the pool afterwards."""
    # Not asgiref's bridge, whose ways back to the loop and copies of the context cost more than a query.
    loop = asyncio.get_running_loop()
    return await loop.run_in_executor(None, lambda: with_connection(function, *args, **kwargs))


def with_connection(function: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
    """For a thread that holds no connection between calls: it goes back to the pool (CONN_MAX_AGE is 0)."""
    close_old_connections()
    try:
        return function(*args, **kwargs)
    finally:
        close_old_connections()
