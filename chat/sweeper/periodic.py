"""PeriodicJob: work that the leading sweeper does at intervals, a batch at a time, so that no sweep takes long."""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple


class Batch(NamedTuple):
    """The result of a batch. done: how many.  has_more: the next call goes on at once."""

    done: int
    has_more: bool = False


class PeriodicJob(ABC):
    """Work that is done at intervals.

    every_s: seconds from one batch to the next, unless there is more.
    what: the kind of rows that are purged, for the log; empty: not logged.
    """

    every_s: ClassVar[float]
    what: ClassVar[str] = ""

    def __init__(self) -> None:
        self._next_at = 0.0
        self._now_s = 0.0

    def run(self, now_s: float) -> int:
        """Run a batch if it is due; return how many were done. now_s: monotonic clock."""
        if now_s < self._next_at:
            return 0
        self._now_s = now_s
        # Even if the batch fails: the other jobs get their turn first.
        self._next_at = now_s + self.every_s
        batch = self.work()
        if batch.has_more:
            self._next_at = now_s
        return batch.done

    @abstractmethod
    def work(self) -> Batch: ...
