"""RunState: the parts of a run that must be saved, written by the emitter and the loop. It only accumulates.

Checkpoints and the end of the run read it; no decision of the loop, its steps and its rounds depends on it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from chat.transcript.finish import TOKENS_USED_UP, WHOLE, Finish
from chat.transcript.usage import TokenUsage


class Utterance(NamedTuple):
    """Text that a model wrote before a round of tools, or as its answer. reasoning_ms: the time of its reasoning."""

    text: str = ""
    reasoning: str = ""
    reasoning_ms: int | None = None


NOTHING_WRITTEN: Final = Utterance()


class Passage:
    """The text shown between two rounds of tools, or before the first or after the last round, in pieces."""

    __slots__ = ("_block_ms", "_closed_ms", "reasonings", "texts")

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.reasonings: list[str] = []
        self._block_ms: int | None = None  # how long the latest block of reasoning has been written
        self._closed_ms = 0

    def separate(self, reasoning: str, text: str) -> None:
        """Replace text by the reasoning and the text that it turned out to be."""
        self.reasonings, self.texts = [reasoning], [text]

    def open_reasoning(self) -> None:
        """Begin another block of reasoning, which measure_reasoning() measures from now on."""
        self._closed_ms += self._block_ms or 0

    def measure_reasoning(self, block_ms: int) -> None:
        self._block_ms = block_ms

    @property
    def utterance(self) -> Utterance:
        return Utterance("".join(self.texts), "".join(self.reasonings), self.reasoning_ms)

    @property
    def reasoning_ms(self) -> int | None:
        return None if self._block_ms is None else self._closed_ms + self._block_ms


@dataclass
class RunState:
    """The state of one loop. outer: the state of the run, in the loop of an agent tool; usage is counted in both."""

    passages: list[Passage] = field(default_factory=list)  # opened by the emitter, one more than rounds
    usage: TokenUsage = field(default_factory=TokenUsage)
    first_token_at: float | None = None  # on the emitter's clock
    cycles: int = 0
    finish: Finish = WHOLE  # of the latest inference of this loop
    reports: dict[str, RunState] = field(default_factory=dict)  # of running agent calls, by row
    has_called: bool = False  # any tool, whatever its result
    # Whether text was shown that is saved as reasoning.
    has_untagged_thinking: bool = False
    # Whether the server has marked reasoning whose tags its model was said to omit.
    has_marked_reasoning: bool = False
    outer: RunState | None = None

    def open_passage(self) -> Passage:
        """Open a passage, into which text goes from now on."""
        self.passages.append(Passage())
        return self.passages[-1]

    def stamp_first_token(self, at: float) -> None:
        """Note when the first token of the run was shown. Only the first call counts."""
        counted = self.outermost
        if counted.first_token_at is None:
            counted.first_token_at = at

    def count_step(self, usage: TokenUsage, finish: Finish) -> None:
        """Count an inference and its usage. finish: how it ended; WHOLE if it broke off."""
        self.finish = finish
        for state in filter(None, (self, self.outer)):
            state.cycles += 1
            state.usage = state.usage.plus(usage)

    def end_without_tokens(self) -> Finish:
        """Note that the run has no tokens for another inference, and return this as the end of the answer."""
        self.finish = finish = Finish(TOKENS_USED_UP)
        return finish

    def begin_calls(self) -> None:
        self.has_called = True

    def open_report(self, row: str) -> RunState:
        """Open the state of the loop of an agent call."""
        self.outermost.reports[row] = inner = RunState(outer=self.outermost)
        return inner

    def close_report(self, row: str) -> None:
        """Drop the state of an agent call, which is stored. Does nothing for another call."""
        self.outermost.reports.pop(row, None)

    def note_untagged_thinking(self) -> None:
        self.outermost.has_untagged_thinking = True

    def note_marked_reasoning(self) -> None:
        self.outermost.has_marked_reasoning = True

    @property
    def outermost(self) -> RunState:
        return self.outer or self

    @property
    def pieces(self) -> int:
        """The number of pieces shown: it changes with every piece."""
        return sum(len(passage.texts) + len(passage.reasonings) for passage in self.passages)

    @property
    def text(self) -> str:
        """All the text that readers saw."""
        return "".join(text for passage in self.passages for text in passage.texts)

    @property
    def latest(self) -> Utterance:
        """The text and reasoning shown since the latest round of tools."""
        return self.passages[-1].utterance if self.passages else Utterance()

    @property
    def reasoning(self) -> str:
        """The reasoning since the latest round of tools."""
        return self.latest.reasoning
