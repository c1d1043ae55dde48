"""The keeper of checkpoints: what a process's attempts have said is in Postgres at most 2 s later.

One statement for many runs, from a task of its own: no stream ever waits for the database.
"""

import asyncio
import logging
from collections.abc import Callable, Collection

from django.db import DatabaseError

from llm_worker.attempt import Attempt
from llm_worker.database import Database
from llm_worker.persistence.fenced_writes import save_checkpoints

logger = logging.getLogger(__name__)

# How exactly a checkpoint's time is kept (checkpoint.py).
TICK_S = 0.25
# Texts are long, and a statement is held in memory.
AT_ONCE = 50


class Checkpointer:
    """Saves the attempts that `live` returns."""

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
                for first in range(0, len(due), AT_ONCE):
                    await self._save(due[first : first + AT_ONCE])
            except DatabaseError as error:
                logger.warning("no checkpoint: %s", error)

    async def _save(self, attempts: list[Attempt]) -> None:
        asked_at = asyncio.get_running_loop().time()
        held = [attempt.checkpoint.take() for attempt in attempts]
        saved = await self._database.call(save_checkpoints, self._owner, held)
        for attempt, one in zip(attempts, held, strict=True):
            if one.run.pk in saved:
                attempt.checkpoint.saved(one, asked_at)
