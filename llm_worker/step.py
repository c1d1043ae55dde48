"""One inference: ask the model, pass on what it says as it says it."""

import uuid
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Protocol

from llm_worker.emitter import Emitter
from llm_worker.stream.assemble import Asked, Assembler
from llm_worker.upstream.deltas import Delta, Finished, ReasoningDelta, TextDelta, ToolCallDelta, Usage
from llm_worker.upstream.llm import Request
from llm_worker.upstream.transcribe import Answer


class Models(Protocol):
    """llm.LanguageModels, or whatever else answers."""

    def stream(self, request: Request) -> AsyncGenerator[list[Delta]]: ...


@dataclass(frozen=True)
class Step:
    """reasons: the finish reasons the model gave.  calls: what it wants to have done, in its order.

    in_text: it wrote calls as text.
    """

    reasons: set[str]
    calls: list[Asked]
    in_text: bool = False


async def run_llm_step(request: Request, models: Models, emitter: Emitter) -> Step:
    """Stream one answer into `emitter`. Raises ModelFailed."""
    reasons: set[str] = set()
    usage = Usage()
    calls: Assembler | None = None
    said = Answer()
    try:
        async with aclosing(models.stream(request)) as answer:
            async for deltas in answer:
                said.take(deltas)
                for delta in deltas:
                    match delta:
                        case TextDelta(text):
                            emitter.text(text)
                        case ReasoningDelta(text):
                            emitter.reasoning(text)
                        case ToolCallDelta():
                            calls = calls or Assembler(new_call_id)
                            calls.take(delta)
                        case Usage():
                            usage = delta  # some servers report it with every chunk: the latest counts
                        case Finished(reason):
                            reasons.add(reason)
    finally:
        emitter.state.count_step(usage)
        said.write()
    written = emitter.end_step()
    return Step(reasons, [*(calls.calls() if calls else ()), *written], in_text=bool(written))


def new_call_id() -> str:
    """For a call that came without one."""
    return f"call_{uuid.uuid4().hex[:24]}"
