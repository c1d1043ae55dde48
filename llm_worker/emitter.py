"""Emitter: how the layers below say something. One per attempt; what it sends is what RunState keeps.

It cleans text, tells reasoning from answer and opens and closes blocks; numbering is the outlet's.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from chat import protocol as p
from chat.packets import Blocks, Placed
from llm_worker.sanitise import Sanitiser
from llm_worker.state import RunState
from llm_worker.think import Kind, ThinkSplitter


class Outlet(Protocol):
    """What an emitter needs of chat.log.outlet.Outlet."""

    def emit(self, placement: p.Placement, obj: p.AnyObj) -> None: ...


class Emitter:
    def __init__(self, outlet: Outlet, state: RunState, model_index: int, clock: Callable[[], float]) -> None:
        """clock: seconds, monotonic; stamps the first token."""
        self._outlet = outlet
        self._state = state
        self._blocks = Blocks(model_index=model_index)
        self._clock = clock
        self._begin_step()

    def run_start(self, model: str) -> None:
        self._emit(self._blocks.run_start(model))

    def text(self, text: str) -> None:
        """A piece of the answer, as the model sent it."""
        for kind, piece in self._think.feed(self._clean_text.clean(text)):
            self._say(kind, piece)

    def reasoning(self, text: str) -> None:
        self._say("reasoning", self._clean_reasoning.clean(text))

    def end_step(self) -> None:
        """Say what was held back; the next inference begins anew."""
        self._say("reasoning", self._clean_reasoning.flush())
        for kind, piece in self._think.feed(self._clean_text.flush()):
            self._say(kind, piece)
        for kind, piece in self._think.flush():
            self._say(kind, piece)
        self._begin_step()

    def end(self) -> None:
        """Everything but the error and `stop`, which are said when the end has been committed."""
        self.end_step()
        self._emit(self._blocks.close())

    def stop(self, reason: p.StopReason, error: p.Error | None = None) -> None:
        if error:
            self._emit(self._blocks.error(error.code, error.message, retryable=error.retryable))
        self._emit(self._blocks.stop(reason))

    def _begin_step(self) -> None:
        self._clean_text = Sanitiser()
        self._clean_reasoning = Sanitiser()
        self._think = ThinkSplitter()

    def _say(self, kind: Kind, text: str) -> None:
        if not text:
            return
        if self._state.first_token_at is None:
            self._state.first_token_at = self._clock()
        if kind == "text":
            self._state.texts.append(text)
            self._emit(self._blocks.message(text))
        else:
            self._state.reasonings.append(text)
            self._emit(self._blocks.reasoning(text))

    def _emit(self, placed: Iterable[Placed]) -> None:
        for placement, obj in placed:
            self._outlet.emit(placement, obj)
