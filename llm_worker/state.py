"""RunState: where the lower layers leave what must be saved of a run. It only accumulates."""

from __future__ import annotations

from dataclasses import dataclass, field

from chat.transcript.entries import Round
from llm_worker.upstream.deltas import Usage


@dataclass
class RunState:
    """outer: the run's own state, when this one is an agent tool's; what is counted, is counted there."""

    texts: list[str] = field(default_factory=list)
    reasonings: list[str] = field(default_factory=list)  # since the last round of tools
    reasoning_ms: int | None = None  # how long those have been written
    usage: Usage = field(default_factory=Usage)
    first_token_at: float | None = None  # on the clock given to Emitter
    cycles: int = 0
    rounds: list[Round] = field(default_factory=list)  # those that have ended
    reports: dict[str, RunState] = field(default_factory=dict)  # of agent calls that go on, by their rows
    has_called: bool = False  # any tool, whatever came of it
    outer: RunState | None = None
    _told: int = 0  # how many of texts stand before the last round
    _closed: int = 0  # pieces of reasoning that went with their rounds

    def keep(self, text: str, reasoning: str) -> None:
        """What an earlier attempt has said and this one continues; readers have been shown it."""
        self.texts += [text] if text else []
        self.reasonings += [reasoning] if reasoning else []

    def open_round(self) -> None:
        """What has been said since the round before belongs to the one that begins, whatever becomes of it."""
        self._told = len(self.texts)
        self._closed += len(self.reasonings)
        self.reasonings.clear()
        self.reasoning_ms = None

    def count_step(self, usage: Usage) -> None:
        """One more inference and what it used, as far as the server said."""
        self.cycles += 1
        self.usage = Usage(*(_sum(old, new) for old, new in zip(self.usage, usage, strict=True)))
        if self.outer:
            self.outer.count_step(usage)

    @property
    def outermost(self) -> RunState:
        return self.outer or self

    @property
    def pieces(self) -> int:
        return len(self.texts) + len(self.reasonings) + self._closed

    @property
    def text(self) -> str:
        """All a reader saw."""
        return "".join(self.texts)

    @property
    def latest_text(self) -> str:
        """Since the last round of tools."""
        return "".join(self.texts[self._told :])

    @property
    def reasoning(self) -> str:
        """Since the last round of tools."""
        return "".join(self.reasonings)


def _sum(old: int | None, new: int | None) -> int | None:
    return new if old is None else old + (new or 0)
