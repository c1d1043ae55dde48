"""RunState: where the lower layers leave what must be saved of a run. It only accumulates."""

from dataclasses import dataclass, field

from llm_worker.deltas import Usage


@dataclass
class RunState:
    texts: list[str] = field(default_factory=list)
    reasonings: list[str] = field(default_factory=list)
    usage: Usage = field(default_factory=Usage)
    first_token_at: float | None = None  # on the clock given to Emitter
    cycles: int = 0

    def keep(self, text: str, reasoning: str) -> None:
        """What an earlier attempt has said and this one continues; readers have been shown it."""
        self.texts += [text] if text else []
        self.reasonings += [reasoning] if reasoning else []

    def count_step(self, usage: Usage) -> None:
        """One more inference and what it used, as far as the server said."""
        self.cycles += 1
        self.usage = Usage(*(_sum(old, new) for old, new in zip(self.usage, usage, strict=True)))

    @property
    def pieces(self) -> int:
        return len(self.texts) + len(self.reasonings)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    @property
    def reasoning(self) -> str:
        return "".join(self.reasonings)


def _sum(old: int | None, new: int | None) -> int | None:
    return new if old is None else old + (new or 0)
