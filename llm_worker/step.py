"""One inference: ask the model, pass on what it says as it says it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from llm_worker.deltas import Delta, Finished, ReasoningDelta, TextDelta, Usage
from llm_worker.emitter import Emitter
from llm_worker.llm import Request
from llm_worker.state import RunState
from llm_worker.transcribe import Answer


class Models(Protocol):
    """llm.LanguageModels, or whatever else answers."""

    def stream(self, request: Request) -> AsyncGenerator[list[Delta]]: ...


async def run_llm_step(request: Request, models: Models, emitter: Emitter, state: RunState) -> set[str]:
    """Stream one answer into `emitter`; returns the finish reasons the model gave. Raises ModelFailed."""
    reasons: set[str] = set()
    usage = Usage()
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
                        case Usage():
                            usage = delta  # some servers report it with every chunk: the latest counts
                        case Finished(reason):
                            reasons.add(reason)
    finally:
        state.count_step(usage)
        said.write()
    emitter.end_step()
    return reasons
