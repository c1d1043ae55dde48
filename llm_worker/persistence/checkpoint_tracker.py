"""How far one attempt has been saved, and what there is to save. On the event loop."""

from chat.log.producer import PacketProducer
from chat.models import Run
from llm_worker.persistence.fenced_writes import Checkpoint
from llm_worker.state import RunState

# With the time a write takes, below the 2 s that Postgres may lag the stream.
EVERY_S = 1.5


class CheckpointTracker:
    def __init__(self, run: Run, state: RunState, producer: PacketProducer, now: float) -> None:
        self._run = run
        self._state = state
        self._producer = producer
        self._pieces = 0  # how many pieces of text the last save held
        self._saved_at = now
        self._is_closed = False

    def is_due(self, now: float) -> bool:
        has_news = self._state.pieces > self._pieces
        return has_news and not self._is_closed and now - self._saved_at >= EVERY_S

    def take(self) -> Checkpoint:
        state = self._state
        return Checkpoint(
            self._run, self._producer.settle_for_checkpoint(), state.text, state.reasoning, state.pieces
        )

    def saved(self, held: Checkpoint, asked_at: float) -> None:
        self._pieces = held.pieces
        self._saved_at = asked_at

    def close(self) -> None:
        """Nothing more is saved on the way: the end is."""
        self._is_closed = True
