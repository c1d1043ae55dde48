"""Saves checkpoints of all attempts of the process, so that Postgres lags the streams by at most 2 s.

One statement for many runs, in a separate task: no stream waits for the database.
"""

import asyncio
import logging
from collections.abc import Callable, Collection

from django.db import DatabaseError

from llm_worker.attempt.attempt import Attempt
from llm_worker.attempt.fenced_writes import save_checkpoints
from llm_worker.database import Database

logger = logging.getLogger(__name__)

# Resolution of the checkpoint interval (checkpoint_tracker.py).
TICK_S = 0.25
# Runs per statement: texts are long, and a statement is held in memory.
BATCH_SIZE = 50


class Checkpointer:
    """Saves checkpoints of the attempts that `live` returns."""

    def __init__(self, owner: int, database: Database, live: Callable[[], Collection[Attempt]]) -> None:
        self._owner = owner
        self._database = database
        self._live = live

    async def keep_saving(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            now = asyncio.get_running_loop().time()
            due = [attempt for attempt in self._live() if attempt.checkpoint.is_due(now)]
            try:
                for first in range(0, len(due), BATCH_SIZE):
                    await self._save(due[first : first + BATCH_SIZE])
            except DatabaseError as error:
                logger.warning("no checkpoint: %s", error)

    async def _save(self, attempts: list[Attempt]) -> None:
        asked_at = asyncio.get_running_loop().time()
        checkpoints = [attempt.checkpoint.take() for attempt in attempts]
        saved = await self._database.call(save_checkpoints, self._owner, checkpoints)
        for attempt, one in zip(attempts, checkpoints, strict=True):
            if one.run.pk in saved:
                attempt.checkpoint.saved(one, asked_at)
