"""Database work of the event loop's code, in threads: never on the loop itself."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from channels.db import database_sync_to_async

Given = ParamSpec("Given")
Result = TypeVar("Result")


async def in_thread(function: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs) -> Result:
    """function(*args) in a thread of its own; its database connection goes back to the pool afterwards."""
    # Not thread sensitive: one slow query must not hold up every socket of the process.
    result: Result = await database_sync_to_async(function, thread_sensitive=False)(*args, **kwargs)
    return result
