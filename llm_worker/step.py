"""One inference: ask the model, pass on what it says as it says it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Protocol

from llm_worker.deltas import Delta, Finished, ReasoningDelta, TextDelta, Usage
from llm_worker.emitter import Emitter
from llm_worker.llm import Request
from llm_worker.state import RunState


class Models(Protocol):
    """llm.LanguageModels, or whatever else answers."""

    def stream(self, request: Request) -> AsyncGenerator[list[Delta]]: ...


async def run_llm_step(request: Request, models: Models, emitter: Emitter, state: RunState) -> set[str]:
    """Stream one answer into `emitter`; returns the finish reasons the model gave. Raises ModelFailed."""
    reasons: set[str] = set()
    state.cycles += 1
    async with aclosing(models.stream(request)) as answer:
        async for deltas in answer:
            for delta in deltas:
                match delta:
                    case TextDelta(text):
                        emitter.text(text)
                    case ReasoningDelta(text):
                        emitter.reasoning(text)
                    case Usage():
                        state.add_usage(delta)
                    case Finished(reason):
                        reasons.add(reason)
    emitter.end_step()
    return reasons
