"""The writer of one socket's outbox: at once while the socket is idle, in fewer and larger frames under load."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from web.socket.outbox import Outbox

# One frame of a 60 Hz screen: more frequent writes are not visible.
MIN_INTERVAL_S: Final = 0.016
# How long the queued frames may take to be written when the server closes the socket.
FINAL_WRITE_S: Final = 1.0
# What uvicorn raises after it has closed the connection by itself (a refused frame, no pong), where ASGI wants an OSError.
_CLOSED_BY_SERVER: Final = "after sending 'websocket.close'"

Send = Callable[[dict[str, Any]], Awaitable[None]]
logger = logging.getLogger(__name__)


class OutboxWriter:
    """A task that owns the sending side of one socket.

    on_overflow: called once, when the outbox exceeds its limits. on_failure: called when the task has failed, and will
    not write any more.
    """

    def __init__(
        self, outbox: Outbox, send: Send, on_overflow: Callable[[], None], on_failure: Callable[[], None]
    ) -> None:
        self._outbox = outbox
        self._send = send
        outbox.on_overflow = on_overflow
        self._on_failure = on_failure
        self._task = asyncio.create_task(self._write())
        self._task.add_done_callback(self._report)

    def close(self) -> None:
        self._task.cancel()

    async def finish(self) -> None:
        """Write the queued frames within FINAL_WRITE_S, then end the task."""
        self._outbox.close()
        await asyncio.wait({self._task}, timeout=FINAL_WRITE_S)
        self._task.cancel()

    async def _write(self) -> None:
        outbox, loop = self._outbox, asyncio.get_running_loop()
        written_at = 0.0
        while await outbox.wait():
            pause_s = written_at + MIN_INTERVAL_S - loop.time()
            if pause_s > 0 and not outbox.is_closed:
                await asyncio.sleep(pause_s)
            outbox.is_writing = True
            for frame in outbox.pop_frames():
                await self._send({"type": "websocket.send", "text": frame})
            outbox.is_writing = False
            written_at = loop.time()

    def _report(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None and not _is_end_of_connection(error):
            logger.error("a socket cannot be written to and is closed", exc_info=error)
            self._on_failure()


def _is_end_of_connection(error: BaseException) -> bool:
    """Return whether the client is gone or refused by the server; the consumer learns that too."""
    return isinstance(error, OSError) or (isinstance(error, RuntimeError) and _CLOSED_BY_SERVER in str(error))
