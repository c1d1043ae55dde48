"""For tools that block: their work goes to a thread, which a stop or a time limit leaves behind."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

Result = TypeVar("Result")


async def run_in_thread(function: Callable[[], Result]) -> Result:
    """What `function` returns or raises. Cancelled, the thread goes on alone and what it comes to is thrown away.

    Its own thread and not a pool's: one that hangs takes no place from others, and no process waits for it at its end.
    """
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[Result] = loop.create_future()

    def tell(result: Result | None, failure: BaseException | None) -> None:
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
        except BaseException as error:  # noqa: BLE001  the edge of a thread: whoever waits gets it
            failure = error
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(tell, result, failure)

    threading.Thread(target=work, name="tool", daemon=True).start()
    return await waiting
