"""Bounded queue of one socket's outgoing lines, which are joined to a frame when they are taken. No I/O.

A frame holds one or more JSON objects, one per line.
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Final

# Limits of the queue while a write is blocked.
MAX_PACKETS: Final = 256
MAX_BYTES: Final = 1024 * 1024
# Common websocket clients refuse frames over 1 MiB.
FRAME_BYTES: Final = 256 * 1024


class Outbox:
    """A queue of outgoing lines, used on one event loop.
    put() never blocks; wait() blocks until take() has something to return.
    """

    def __init__(self) -> None:
        # Set by the writer around a write. The limits apply only then: otherwise the queue is about to be written, and
        # one burst of many runs does not mean a slow client.
        self.is_writing = False
        self._chunks: list[bytes] = []
        self._packets = 0
        self._bytes = 0
        self._has_data = asyncio.Event()
        self._has_space = asyncio.Event()
        self._has_space.set()
        self.is_closed = False
        # Called once, when the limits are exceeded: the client reads too slowly for its subscriptions.
        self.on_overflow: Callable[[], None] = lambda: None

    def put(self, chunk: bytes, packets: int = 1) -> None:
        """Queue `packets` lines; discard them if the outbox is closed or has overflowed."""
        if self.is_closed:
            return
        self._chunks.append(chunk)
        self._packets += packets
        self._bytes += len(chunk)
        if self._packets > MAX_PACKETS // 2 or self._bytes > MAX_BYTES // 2:
            self._has_space.clear()
            if self.is_writing and (self._packets > MAX_PACKETS or self._bytes > MAX_BYTES):
                self._overflow()
        self._has_data.set()

    async def wait_for_space(self) -> None:
        """Wait until half of the buffer is free. For producers that can wait, such as replay from the log."""
        await self._has_space.wait()

    async def wait(self) -> bool:
        """Wait for data; return False if the outbox is closed and empty."""
        if not self._chunks and not self.is_closed:
            await self._has_data.wait()
        return bool(self._chunks)

    def close(self) -> None:
        """Accept nothing more; queued lines can still be taken."""
        self.is_closed = True
        self._has_data.set()
        self._has_space.set()

    def take(self) -> str:
        """Remove and return the next frame."""
        chunks = self._chunks
        if self._bytes > FRAME_BYTES:
            chunks = self._first_frame()
        frame = b"\n".join(chunks)
        self._chunks = self._chunks[len(chunks) :]
        if self._chunks:
            self._bytes -= sum(map(len, chunks))
        else:
            self._bytes = self._packets = 0
            self._has_data.clear()
            self._has_space.set()
        return frame.decode()

    def pop_frames(self) -> Sequence[str]:
        """Remove what take() does, and return it as the frames that are sent."""
        return [self.take()]

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
