"""Runs blocking code of a tool in a thread that is abandoned on a stop or a timeout."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final, TypeVar

from chat.infrastructure import log_context
from chat.infrastructure.background import with_connection
from llm_worker.tools.fair_slots import LoopSlots

Result = TypeVar("Result")

# As many as the pool of connections has beside those of database.py. A search of a large base takes a processor.
_QUERIES: Final = LoopSlots(places=8, each=2)


async def run_in_thread(function: Callable[[], Result], at_end: Callable[[], None] | None = None) -> Result:
    """Run `function` in a thread, and return or raise what it does.

    When cancelled, the thread continues and its result is discarded. at_end: called when the thread has ended.

    A new daemon thread, not one of a pool: if it hangs, it blocks neither other tools nor the exit of the process.
    """
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[Result] = loop.create_future()

    def tell(result: Result | None, failure: BaseException | None) -> None:
        if at_end:
            at_end()
        if waiting.done():  # cancelled
            return
        if failure is None:
            waiting.set_result(result)  # type: ignore[arg-type]
        else:
            waiting.set_exception(failure)

    def work() -> None:
        result, failure = None, None
        try:
            result = function()
        except BaseException as error:  # noqa: BLE001  the edge of a thread: the caller gets it
            failure = error
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(tell, result, failure)

    threading.Thread(target=log_context.in_context(work), name="tool", daemon=True).start()
    return await waiting


async def query_in_thread(query: Callable[[], Result]) -> Result:
    """Run a function that reads the database, as run_in_thread does; the connection returns to the pool.
    Waits while too many others run, of the same user or of all.
    """
    free = await _QUERIES.take()
    return await run_in_thread(partial(with_connection, query), at_end=free)
