"""Flush policy: at once when idle, in shared windows of up to 60 ms under load.

The readers of upstream responses and the publisher of a worker process share one FlushWindow: what is read when a
window opens is published in the same window, so a chunk waits at most once.
"""

import asyncio
from collections.abc import Callable
from typing import Final

# About three words at the speed of most models: not visible to a reader, and halves the CPU of a loaded system.
# The first delta of a block and urgent packets are sent outside of windows.
MAX_WINDOW_S: Final = 0.060
# Chunks per second and process: below IDLE_RATE there is no window, from BUSY_RATE on it has its full length.
IDLE_RATE: Final = 300.0
BUSY_RATE: Final = 600.0
# Averaging time of the measured rate.
RATE_MEMORY_S: Final = 0.5


class FlushWindow:
    """Opens windows at a rate that follows the load. Belongs to one event loop; not thread-safe."""

    def __init__(self, max_window_s: float = MAX_WINDOW_S) -> None:
        self._max_window_s = max_window_s
        self._chunks = 0
        self._rate = 0.0
        self._window_s = 0.0
        self._opened_at = 0.0
        self._is_opening = False
        self._timer: asyncio.TimerHandle | None = None
        self._readers: list[asyncio.Future[None]] = []
        self._flushes: list[Callable[[], None]] = []

    def count(self, chunks: int) -> None:
        """Count chunks received from upstream: they are the load that the window length follows."""
        self._chunks += chunks

    def next_window(self) -> asyncio.Future[None]:
        """Return a future that is done when the next window opens: at once when idle."""
        loop = asyncio.get_running_loop()
        reader = loop.create_future()
        self._readers.append(reader)
        self._schedule_opening(loop)
        return reader

    def call_in_next_window(self, flush: Callable[[], None]) -> None:
        """Call `flush` once in the next window, after the futures of `next_window` have run their tasks."""
        self._flushes.append(flush)
        if not self._is_opening:
            self._schedule_opening(asyncio.get_running_loop())

    def _schedule_opening(self, loop: asyncio.AbstractEventLoop) -> None:
        """Open the window now if it is due, else at the time it is due."""
        if self._timer is None:
            due_s = self._opened_at + self._window_s - loop.time()
            if due_s > 0:
                self._timer = loop.call_later(due_s, self._open, loop)
            else:
                self._open(loop)

    def _open(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        self._measure(loop.time())
        readers, self._readers = self._readers, []
        for reader in readers:
            if not reader.done():
                reader.set_result(None)
        if not self._is_opening:
            self._is_opening = True
            loop.call_soon(self._flush)  # call_soon is FIFO: the readers were scheduled before and run first

    def _flush(self) -> None:
        self._is_opening = False
        flushes, self._flushes = self._flushes, []
        for flush in flushes:
            flush()

    def _measure(self, now: float) -> None:
        """Set the length of the next window from the chunks received since the previous one opened."""
        elapsed_s = max(now - self._opened_at, 1e-4)
        weight = min(1.0, elapsed_s / RATE_MEMORY_S)
        self._rate += weight * (self._chunks / elapsed_s - self._rate)
        self._chunks = 0
        self._opened_at = now
        self._window_s = self._max_window_s * window_share(self._rate)


def window_share(chunks_per_s: float) -> float:
    """Return the share of the longest window to use: 0 when idle, 1 when busy, linear in between."""
    return min(1.0, max(0.0, (chunks_per_s - IDLE_RATE) / (BUSY_RATE - IDLE_RATE)))
