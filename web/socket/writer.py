"""Writes one socket's outbox: at once while the socket is quiet, in fewer and larger frames once it is busy."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

from web.socket.outbox import Outbox

# One frame of a 60 Hz screen: nobody sees what is written more often.
BUSY_S: Final = 0.016
# How long what waits may take to be written when the socket is closed by us.
LAST_WORDS_S: Final = 1.0

Send = Callable[[dict[str, Any]], Awaitable[None]]


class Writer:
    """A task that owns the sending side. on_overflow: called once, when what waits exceeds its bounds."""

    def __init__(self, outbox: Outbox, send: Send, on_overflow: Callable[[], None]) -> None:
        self._outbox = outbox
        self._send = send
        outbox.on_overflow = on_overflow
        self._task = asyncio.create_task(self._write())

    def close(self) -> None:
        self._task.cancel()

    async def finish(self) -> None:
        """Write what waits, if the socket still takes it soon, and end."""
        self._outbox.close()
        await asyncio.wait({self._task}, timeout=LAST_WORDS_S)
        self._task.cancel()

    async def _write(self) -> None:
        outbox, loop = self._outbox, asyncio.get_running_loop()
        written_at = 0.0
        while await outbox.wait():
            pause_s = written_at + BUSY_S - loop.time()
            if pause_s > 0 and not outbox.is_closed:
                await asyncio.sleep(pause_s)
            outbox.is_writing = True
            await self._send({"type": "websocket.send", "text": outbox.take()})
            outbox.is_writing = False
            written_at = loop.time()
