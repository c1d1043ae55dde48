"""Tracks how much of one attempt has been saved and when the next checkpoint is due. Used on the event loop."""

from collections.abc import Mapping

from chat.log.producer import PacketProducer
from chat.models import Run
from chat.transcript.answer_setup import AnswerSetup
from chat.transcript.entries import Document
from llm_worker.attempt.fenced_writes import Checkpoint
from llm_worker.loop.state import RunState

# Together with the time of a write, below the 2 s that Postgres may lag the stream.
INTERVAL_S = 1.5


class CheckpointTracker:
    """Builds the checkpoints of one attempt.

    cited: the documents that the answer cites, by number; the mapping grows with the answer.
    """

    def __init__(
        self,
        run: Run,
        state: RunState,
        producer: PacketProducer,
        now: float,
        cited: Mapping[int, Document] | None = None,
    ) -> None:
        self._run = run
        self._state = state
        self._producer = producer
        self._cited = {} if cited is None else cited
        self._saved_citations = 0
        self._pieces = 0  # the number of deltas in the latest checkpoint
        self._saved_at = now
        self._is_closed = False
        # The setup of the answer; None before it is known, and once it is stored.
        self.setup: AnswerSetup | None = None

    def is_due(self, now: float) -> bool:
        has_news = self._state.pieces != self._pieces
        return has_news and not self._is_closed and now - self._saved_at >= INTERVAL_S

    def take(self) -> Checkpoint:
        state = self._state
        return Checkpoint(
            self._run,
            self._producer.settle_for_checkpoint(),
            state.text,
            state.reasoning,
            state.pieces,
            self.setup,
            tuple(self._cited.values()) if len(self._cited) > self._saved_citations else (),
        )

    def saved(self, checkpoint: Checkpoint, asked_at: float) -> None:
        self._pieces = checkpoint.pieces
        self._saved_at = asked_at
        self.setup = None
        self._saved_citations = max(self._saved_citations, len(checkpoint.cited))

    def close(self) -> None:
        """Take no more checkpoints: the end of the run is saved instead."""
        self._is_closed = True
