"""The end of a worker process: its runs may finish for a while, then they are put back for another worker.

Cooperative: Celery waits for its threads, and its thread pool cannot end them. So every run returns in time.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from llm_worker.attempt import Attempt

logger = logging.getLogger(__name__)

# How long saving and putting back may take; what Postgres or Redis do not take by then is found by the sweeper.
HANDOVER_S = 4.5


class Drain:
    """On the event loop. `live`: the attempts of the process."""

    def __init__(self, loop: asyncio.AbstractEventLoop, live: Callable[[], Collection[Attempt]]) -> None:
        self.has_begun = False  # nothing is claimed any more
        self.is_over = False  # nothing is finished any more
        self._loop = loop
        self._live = live
        self._runs: set[asyncio.Task[object]] = set()
        self._gave_up = False

    def begin(self, grace_s: float) -> None:
        """May be repeated: the shortest grace counts."""
        self.has_begun = True
        if grace_s > 0:
            self._loop.call_later(grace_s, self._let_go)
        else:
            self._let_go()

    @contextmanager
    def bounding(self) -> Iterator[None]:
        """Around each run: ends it when the process cannot wait any longer."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  for the type checker: runs are tasks
        self._runs.add(task)
        try:
            yield
        except asyncio.CancelledError:
            if not self._gave_up:
                raise
            logger.warning("what was going on could not end in time; a run is taken over when its lease ends")
        finally:
            self._runs.discard(task)

    def _let_go(self) -> None:
        if self.is_over:
            return
        self.is_over = True
        for attempt in list(self._live()):
            attempt.cancel("released")
        self._loop.call_later(HANDOVER_S, self._give_up)

    def _give_up(self) -> None:
        self._gave_up = True
        for run in self._runs:
            run.cancel()
