"""Reports the progress of a call, at most once per interval: each packet is kept until the run ends.

Used on the event loop.
"""

import asyncio
import math
from collections.abc import Callable
from typing import Final, NamedTuple

from llm_worker.stream.sanitiser import clean

INTERVAL_S: Final = 1.0
MAX_TEXT_CHARACTERS: Final = 200


class Progress(NamedTuple):
    """The progress of a call. total: in the unit of `done`; None if unknown.  text: the current step; may be empty."""

    done: float
    total: float | None
    text: str


class ProgressReports:
    """The reports of one call. The latest report is shown after the interval at the latest, unless the call ends."""

    def __init__(self, show: Callable[[Progress], None], interval_s: float = INTERVAL_S) -> None:
        self._show = show
        self._interval_s = interval_s
        self._latest: Progress | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._is_closed = False

    def report(self, done: float, total: float | None, text: str) -> None:
        """Show the progress, now or later. Ignores numbers that JSON cannot represent; without `done`, the report."""
        if self._is_closed or not math.isfinite(done):
            return
        known_total = total if total is not None and math.isfinite(total) and total > 0 else None
        self._latest = Progress(done, known_total, clean(" ".join(text.split()))[:MAX_TEXT_CHARACTERS])
        if self._timer is None:
            self._pass_on()

    def close(self) -> None:
        self._is_closed = True
        if self._timer:
            self._timer.cancel()

    def _pass_on(self) -> None:
        self._timer = None
        if self._latest is None:
            return
        self._show(self._latest)
        self._latest = None
        self._timer = asyncio.get_running_loop().call_later(self._interval_s, self._pass_on)
