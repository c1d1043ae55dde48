"""Drains a worker process that shuts down: its runs may finish for a grace period, then they are released.

Cooperative: Celery waits for its threads and its thread pool cannot end them, so every run must return in time.
"""

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager

from llm_worker.attempt.attempt import Attempt

logger = logging.getLogger(__name__)

# How long saving and releasing may take; the sweeper repairs what Postgres or Redis have not accepted by then.
HANDOVER_S = 4.5


class Drain:
    """The shutdown of a worker process, on its event loop. live: returns the attempts of the process."""

    def __init__(self, loop: asyncio.AbstractEventLoop, live: Callable[[], Collection[Attempt]]) -> None:
        self.has_begun = False  # no more runs are claimed
        self.is_over = False  # no more runs are finished
        self._loop = loop
        self._live = live
        self._runs: set[asyncio.Task[object]] = set()
        self._gave_up = False

    def begin(self, grace_s: float) -> None:
        """Claim no more runs, and release the others after the grace period. Idempotent: the shortest period counts."""
        self.has_begun = True
        if grace_s > 0:
            self._loop.call_later(grace_s, self._release_runs)
        else:
            self._release_runs()

    @contextmanager
    def bounded(self) -> Iterator[None]:
        """Wrap a run, which is ended when the process cannot wait any longer."""
        task = asyncio.current_task()
        assert task is not None  # noqa: S101  for the type checker: runs are tasks
        self._runs.add(task)
        try:
            yield
        except asyncio.CancelledError:
            if not self._gave_up:
                raise
            logger.warning("a run could not be released in time; it is taken over when its lease expires")
        finally:
            self._runs.discard(task)

    def _release_runs(self) -> None:
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
