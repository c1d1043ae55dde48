"""One inference: ask the model, pass on what it says as it says it."""

import uuid
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Protocol

from llm_worker.emitter import DeltaSink, Emitter
from llm_worker.stream.call_assembler import RequestedCall
from llm_worker.stream.call_preview import CallPreviewer
from llm_worker.upstream.deltas import Delta, Finished, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from llm_worker.upstream.model_request import Request
from llm_worker.upstream.request_logging import ResponseLog


class Models(Protocol):
    """llm.LanguageModels, or whatever else answers."""

    def stream(self, request: Request) -> AsyncGenerator[list[Delta]]: ...


@dataclass(frozen=True)
class Step:
    """reasons: the finish reasons the model gave.  calls: what it wants to have done, in its order.

    in_text: it wrote calls as text.
    """

    reasons: set[str]
    calls: list[RequestedCall]
    in_text: bool = False


async def run_llm_step(
    request: Request, models: Models, emitter: Emitter, watchable: Collection[str] = ()
) -> Step:
    """Stream one answer into `emitter`. Raises ModelFailed.

    watchable: the names of tools whose calls may be shown while they are being written.
    """
    around = _Around()
    calls = CallPreviewer(new_call_id, watchable)
    said = ResponseLog()
    hearer: DeltaSink = emitter
    try:
        async with aclosing(models.stream(request)) as answer:
            async for deltas in answer:
                said.take(deltas)
                for delta in deltas:
                    match delta:
                        case TextDelta(text):
                            hearer.text(text)
                        case ReasoningDelta(text):
                            hearer.reasoning(text)
                        case ToolCallDelta():
                            calls.take(delta)
                        case _:
                            around.take(delta)
                # Once for all that came together: several short calls that do are not taken for one.
                if calls.has_new_deltas and (piece := calls.news()):
                    hearer = emitter.call(piece)
    finally:
        emitter.state.count_step(around.usage)
        said.write()
    written = emitter.end_step()
    return Step(around.reasons, [*calls.calls(), *written], in_text=bool(written))


@dataclass
class _Around:
    """What a server says besides the answer. Some report usage with every chunk: the latest counts."""

    reasons: set[str] = field(default_factory=set)
    usage: Usage = field(default_factory=Usage)

    def take(self, delta: Usage | Finished) -> None:
        if isinstance(delta, Usage):
            self.usage = delta
        else:
            self.reasons.add(delta.reason)


def new_call_id() -> str:
    """For a call that came without one."""
    return f"call_{uuid.uuid4().hex[:24]}"
