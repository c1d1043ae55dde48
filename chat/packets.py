"""The packets of a run, built in one place for the live stream and for the replay from the database. Pure.

`Blocks` turns what happens in a run into (placement, obj) pairs and keeps the block counter: a reload then shows
exactly what was streamed. `fold` is its inverse: packets back into the text a reader saw.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from chat import protocol as p

Placed = tuple[p.Placement, p.AnyObj]


@dataclass
class Blocks:
    """Opens and closes blocks: each reasoning block, tool round and answer block has its own turn_index.

    Every method yields what to emit, in order. Text is emitted as given; empty text yields nothing.
    """

    model_index: int = 0
    turn_index: int = 0
    open: Literal["reasoning", "message"] | None = None

    def run_start(self, model: str) -> Iterator[Placed]:
        yield self._place(p.RunStart(model=model))

    def reasoning(self, text: str) -> Iterator[Placed]:
        if not text:
            return
        if self.open != "reasoning":
            yield from self.close()
            self.open = "reasoning"
            yield self._place(p.ReasoningStart())
        yield self._place(p.ReasoningDelta(text=text))

    def message(self, text: str) -> Iterator[Placed]:
        if not text:
            return
        if self.open != "message":
            yield from self.close()
            self.open = "message"
            yield self._place(p.MessageStart())
        yield self._place(p.MessageDelta(text=text))

    def close(self) -> Iterator[Placed]:
        """End the open block, if any; the next one gets the next turn_index."""
        if self.open is None:
            return
        yield self._place(p.ReasoningDone() if self.open == "reasoning" else p.SectionEnd())
        self.open = None
        self.turn_index += 1

    def error(self, code: str, message: str, *, retryable: bool) -> Iterator[Placed]:
        yield from self.close()
        yield self._place(p.Error(code=code, message=message, retryable=retryable))

    def stop(self, reason: p.StopReason) -> Iterator[Placed]:
        yield from self.close()
        yield self._place(p.Stop(stop_reason=reason))

    def _place(self, obj: p.AnyObj) -> Placed:
        return p.Placement(turn_index=self.turn_index, model_index=self.model_index), obj


@dataclass(frozen=True)
class Ended:
    """What the database keeps of an ended run; enough to build its packets again."""

    model: str
    model_index: int
    reasoning: str
    text: str
    stop_reason: p.StopReason
    error: p.Error | None = None


def rebuild(ended: Ended) -> list[Placed]:
    """The packets of an ended run, as its live stream would have merged them into whole blocks."""
    blocks = Blocks(model_index=ended.model_index)
    placed = [*blocks.run_start(ended.model), *blocks.reasoning(ended.reasoning), *blocks.message(ended.text)]
    if ended.error:
        placed += blocks.error(ended.error.code, ended.error.message, retryable=ended.error.retryable)
    return [*placed, *blocks.stop(ended.stop_reason)]


@dataclass
class Shown:
    """What a reader saw of a run after some of its packets."""

    text: str = ""
    reasoning: str = ""
    stop_reason: str | None = None
    error: p.Error | None = None


def fold(objs: Iterable[p.AnyObj]) -> Shown:
    """Everything shown by these packets, text and reasoning joined."""
    texts: list[str] = []
    reasonings: list[str] = []
    shown = Shown()
    for obj in objs:
        match obj:
            case p.MessageDelta(text=text):
                texts.append(text)
            case p.ReasoningDelta(text=text):
                reasonings.append(text)
            case p.Error():
                shown.error = obj
            case p.Stop(stop_reason=reason):
                shown.stop_reason = reason
            case _:
                pass
    shown.text = "".join(texts)
    shown.reasoning = "".join(reasonings)
    return shown
