"""Background work that must not end: a task or thread that fails is logged and started again.

Without it, an unexpected exception ends the task silently: the process lives on and counts as healthy, but the work of
the task is never done again.
"""

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from typing import Final

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
