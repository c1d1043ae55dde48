"""RunState: what must be saved of a run, left there by the emitter and the loop. It only accumulates.

Checkpoints and the end of the run read it; the loop, its steps and its rounds decide nothing by it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from chat.transcript.finish import WHOLE, Finish
from chat.transcript.token_usage import TokenUsage


class Utterance(NamedTuple):
    """What a model showed before a round of tools, or as its answer. reasoning_ms: how long it was being written."""

    text: str = ""
    reasoning: str = ""
    reasoning_ms: int | None = None


class Passage:
    """What is shown between two rounds of tools, or before the first or after the last one, in pieces."""

    __slots__ = ("_closed_ms", "block_ms", "reasonings", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.reasonings: list[str] = []
        self.block_ms: int | None = None  # how long the latest block of reasoning has been written
        self._closed_ms = 0

    def open_reasoning(self) -> None:
        """block_ms is of another block from now on."""
        self._closed_ms += self.block_ms or 0

    @property
    def utterance(self) -> Utterance:
        return Utterance("".join(self.texts), "".join(self.reasonings), self.reasoning_ms)

    @property
    def reasoning_ms(self) -> int | None:
        return None if self.block_ms is None else self._closed_ms + self.block_ms


@dataclass
class RunState:
    """outer: the run's own state, if this one is of an agent tool's loop; usage is counted in both."""

    passages: list[Passage] = field(default_factory=list)  # opened by the emitter, one more than rounds
    usage: TokenUsage = field(default_factory=TokenUsage)
    first_token_at: float | None = None  # on the emitter's clock
    cycles: int = 0
    finish: Finish = WHOLE  # of the latest inference of this loop
    reports: dict[str, RunState] = field(default_factory=dict)  # of running agent calls, by row
    has_called: bool = False  # any tool, whatever its result
    # Whether text was shown that is saved as reasoning.
    has_untagged_thinking: bool = False
    outer: RunState | None = None

    def open_passage(self) -> Passage:
        """What is shown from now on goes into the returned passage."""
        self.passages.append(Passage())
        return self.passages[-1]

    def stamp_first_token(self, at: float) -> None:
        """The first time counts."""
        counted = self.outermost
        if counted.first_token_at is None:
            counted.first_token_at = at

    def count_step(self, usage: TokenUsage) -> None:
        """One more inference and its usage."""
        self.cycles += 1
        self.usage = self.usage.plus(usage)
        if self.outer:
            self.outer.count_step(usage)

    @property
    def outermost(self) -> RunState:
        return self.outer or self

    @property
    def pieces(self) -> int:
        """Changes with every piece that is shown."""
        return sum(len(passage.texts) + len(passage.reasonings) for passage in self.passages)

    @property
    def text(self) -> str:
        """All that a reader saw."""
        return "".join(text for passage in self.passages for text in passage.texts)

    @property
    def latest(self) -> Utterance:
        """What was shown since the latest round of tools."""
        return self.passages[-1].utterance if self.passages else Utterance()

    @property
    def reasoning(self) -> str:
        """Since the latest round of tools."""
        return self.latest.reasoning
