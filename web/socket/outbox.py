"""What waits to be written to one socket: bounded, and put together to a frame when it is taken. No I/O.

A frame holds one or more JSON objects, one per line.
"""

import asyncio
from collections.abc import Callable
from typing import Final

# What may wait while a write is stuck.
MAX_PACKETS: Final = 256
MAX_BYTES: Final = 1024 * 1024
# Common websocket clients refuse frames over 1 MiB.
FRAME_BYTES: Final = 256 * 1024


class Outbox:
    """put() never blocks; take() waits for something. Both on one event loop."""

    def __init__(self) -> None:
        # Set by the writer around a write. Only then the limits hold: otherwise what waits is gone in a moment,
        # and one burst of many runs is no slow client.
        self.is_writing = False
        self._chunks: list[bytes] = []
        self._packets = 0
        self._bytes = 0
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self.is_closed = False
        # Called once, when more waits than may: the socket does not keep up with what it is subscribed to.
        self.on_overflow: Callable[[], None] = lambda: None

    def put(self, chunk: bytes, packets: int = 1) -> None:
        """Queue `packets` lines. Nothing is queued any more once the outbox is closed or has overflowed."""
        if self.is_closed:
            return
        self._chunks.append(chunk)
        self._packets += packets
        self._bytes += len(chunk)
        if self._packets > MAX_PACKETS // 2 or self._bytes > MAX_BYTES // 2:
            self._room.clear()
            if self.is_writing and (self._packets > MAX_PACKETS or self._bytes > MAX_BYTES):
                self._overflow()
        self._news.set()

    async def room(self) -> None:
        """Wait until half of the buffer is free, for those who can wait: replay from the log."""
        await self._room.wait()

    async def wait(self) -> bool:
        """Return when there is something to take; False: closed, and nothing is left."""
        if not self._chunks and not self.is_closed:
            await self._news.wait()
        return bool(self._chunks)

    def close(self) -> None:
        """Take nothing more in; what waits can still be taken."""
        self.is_closed = True
        self._news.set()
        self._room.set()

    def take(self) -> str:
        """The next frame."""
        chunks = self._chunks
        if self._bytes > FRAME_BYTES:
            chunks = self._first_frame()
        frame = b"\n".join(chunks)
        self._chunks = self._chunks[len(chunks) :]
        if self._chunks:
            self._bytes -= sum(map(len, chunks))
        else:
            self._bytes = self._packets = 0
            self._news.clear()
            self._room.set()
        return frame.decode()

    def _first_frame(self) -> list[bytes]:
        total = 0
        for index, chunk in enumerate(self._chunks):
            total += len(chunk)
            if total > FRAME_BYTES and index:
                return self._chunks[:index]
        return self._chunks

    def _overflow(self) -> None:
        self._chunks.clear()
        self.close()
        self.on_overflow()
