"""When a process's news moves on: at once while little is said; under load for all runs together, in windows of up to
60 ms. Whoever reads what runs say, and whoever carries it, keep to the same windows, so that nothing waits twice.
"""

import asyncio
from collections.abc import Callable
from typing import Final

# Three words at the speed of most models: nobody sees it, and it halves the CPU of a loaded system. First words and
# whatever else somebody waits for do not wait for it.
MAX_WINDOW_S: Final = 0.060
# Chunks per second and process below which nothing waits, and from which on the whole window is used.
IDLE_RATE: Final = 300.0
BUSY_RATE: Final = 600.0
# How long the rate remembers.
RATE_MEMORY_S: Final = 0.5


class FlushWindow:
    """Belongs to one event loop."""

    def __init__(self, max_window_s: float = MAX_WINDOW_S) -> None:
        self._max_window_s = max_window_s
        self._chunks = 0
        self._rate = 0.0
        self._window_s = 0.0
        self._opened_at = 0.0
        self._is_opening = False
        self._timer: asyncio.TimerHandle | None = None
        self._readers: list[asyncio.Future[None]] = []
        self._carriers: list[Callable[[], None]] = []

    def count(self, chunks: int) -> None:
        """So many were received."""
        self._chunks += chunks

    def next_window(self) -> asyncio.Future[None]:
        """Done when the next window opens; at once, if nothing has to wait."""
        loop = asyncio.get_running_loop()
        reader = loop.create_future()
        self._readers.append(reader)
        self._see_to_it(loop)
        return reader

    def call_in_next_window(self, carry: Callable[[], None]) -> None:
        """Call it soon after the window has opened: what readers say when it opens is carried in it."""
        self._carriers.append(carry)
        if not self._is_opening:
            self._see_to_it(asyncio.get_running_loop())

    def _see_to_it(self, loop: asyncio.AbstractEventLoop) -> None:
        """Open the window if it is due, or when it will be."""
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
            loop.call_soon(self._carry)  # after the readers, whose turn comes before it

    def _carry(self) -> None:
        self._is_opening = False
        carriers, self._carriers = self._carriers, []
        for carry in carriers:
            carry()

    def _measure(self, now: float) -> None:
        """A window opens now; how long the next one is follows from how much was said since the last."""
        elapsed_s = max(now - self._opened_at, 1e-4)
        weight = min(1.0, elapsed_s / RATE_MEMORY_S)
        self._rate += weight * (self._chunks / elapsed_s - self._rate)
        self._chunks = 0
        self._opened_at = now
        self._window_s = self._max_window_s * window_share(self._rate)


def window_share(chunks_per_s: float) -> float:
    """Which part of the window is used: 0 for an idle process, 1 for a busy one."""
    return min(1.0, max(0.0, (chunks_per_s - IDLE_RATE) / (BUSY_RATE - IDLE_RATE)))
