"""Saves checkpoints of all attempts of the process, so that Postgres lags the streams by at most 2 s.

One statement for many runs, in a separate task: no stream waits for the database. Used on the event loop.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable

from django.db import DatabaseError

from chat.log.producer import PacketProducer
from chat.models import Run
from chat.transcript.answer_settings import AnswerSetup
from llm_worker.attempt.fenced_writes import Checkpoint, save_checkpoints
from llm_worker.database import Database
from llm_worker.loop.emitter import Emitter

logger = logging.getLogger(__name__)

# Together with the time of a write, below the 2 s that Postgres may lag the stream.
INTERVAL_S = 1.5
# Resolution of the interval.
TICK_S = 0.25
# Runs per statement: texts are long, and a statement is held in memory.
BATCH_SIZE = 50


class CheckpointTracker:
    """Builds the checkpoints of one attempt: tracks how much has been saved, and when the next one is due.

    setup: the setup of the answer, which is stored with the first checkpoint.
    """

    def __init__(
        self,
        run: Run,
        emitter: Emitter,
        producer: PacketProducer,
        now: float,
        setup: AnswerSetup | None = None,
    ) -> None:
        self._run = run
        self._state = emitter.state
        self._cited = emitter.cited
        self._producer = producer
        self._saved_citations = 0
        self._pieces = 0  # the number of deltas in the latest checkpoint
        self._saved_at = now
        self.unsaved_setup = setup

    def is_due(self, now: float) -> bool:
        return self._state.pieces != self._pieces and now - self._saved_at >= INTERVAL_S

    def build(self) -> Checkpoint:
        state = self._state
        return Checkpoint(
            self._run,
            self._producer.settle_for_checkpoint(),
            state.text,
            state.reasoning,
            state.pieces,
            self.unsaved_setup,
            tuple(self._cited.values()) if len(self._cited) > self._saved_citations else (),
        )

    def saved(self, checkpoint: Checkpoint, asked_at: float) -> None:
        self._pieces = checkpoint.pieces
        self._saved_at = asked_at
        self.unsaved_setup = None
        self._saved_citations = max(self._saved_citations, len(checkpoint.cited))


class Checkpointer:
    """Saves the checkpoints that are due. live: returns the trackers of the attempts that are being answered."""

    def __init__(
        self, owner: int, database: Database, live: Callable[[], Iterable[CheckpointTracker]]
    ) -> None:
        self._owner = owner
        self._database = database
        self._live = live

    async def keep_saving(self) -> None:
        while True:
            await asyncio.sleep(TICK_S)
            now = asyncio.get_running_loop().time()
            due = [tracker for tracker in self._live() if tracker.is_due(now)]
            try:
                for first in range(0, len(due), BATCH_SIZE):
                    await self._save(due[first : first + BATCH_SIZE])
            except DatabaseError as error:
                logger.warning("no checkpoint: %s", error)

    async def _save(self, trackers: list[CheckpointTracker]) -> None:
        asked_at = asyncio.get_running_loop().time()
        checkpoints = [tracker.build() for tracker in trackers]
        saved = await self._database.call(save_checkpoints, self._owner, checkpoints)
        for tracker, checkpoint in zip(trackers, checkpoints, strict=True):
            if checkpoint.run.pk in saved:
                tracker.saved(checkpoint, asked_at)
