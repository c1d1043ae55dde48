"""One inference of the loop: stream the model's answer into the emitter, and return what it came to."""

import uuid
from collections.abc import AsyncGenerator, Collection
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Protocol

from chat.transcript.token_usage import TokenUsage
from llm_worker.emitter import DeltaSink, Emitter
from llm_worker.state import Utterance
from llm_worker.stream.call_assembler import RequestedCall
from llm_worker.stream.call_preview import CallPreviewer
from llm_worker.upstream.deltas import Delta, Finished, ReasoningDelta, TextDelta, ToolCallDelta
from llm_worker.upstream.model_request import Request
from llm_worker.upstream.request_logging import ResponseLog


class StreamingModels(Protocol):
    """Streams answers; upstream.llm.LanguageModels is the one that asks model servers."""

    def stream(self, request: Request) -> AsyncGenerator[list[Delta]]: ...


@dataclass(frozen=True)
class Step:
    """finish_reasons: those the model gave.  calls: the tool calls it asks for, in its order.

    utterance: what readers were shown since the latest round.  has_text_calls: it wrote calls as text.
    """

    finish_reasons: set[str]
    calls: list[RequestedCall]
    utterance: Utterance
    has_text_calls: bool = False


async def run_llm_step(
    request: Request, models: StreamingModels, emitter: Emitter, previewable: Collection[str] = ()
) -> Step:
    """Stream one answer into `emitter`. Raises ModelFailed.

    previewable: the names of tools whose calls may be shown while they are being written.
    """
    metadata = _Metadata()
    calls = CallPreviewer(new_call_id, previewable)
    log = ResponseLog()
    sink: DeltaSink = emitter
    try:
        async with aclosing(models.stream(request)) as answer:
            async for deltas in answer:
                log.take(deltas)
                for delta in deltas:
                    match delta:
                        case TextDelta(text):
                            sink.text(text)
                        case ReasoningDelta(text):
                            sink.reasoning(text)
                        case ToolCallDelta():
                            calls.feed(delta)
                        case _:
                            metadata.take(delta)
                # Once per read: several short calls that arrive together are not mistaken for a single one.
                if calls.has_new_deltas and (fragment := calls.next_fragment()):
                    sink = emitter.call(fragment)
    finally:
        emitter.state.count_step(metadata.usage)
        log.write()
    output = emitter.end_step()
    return Step(
        metadata.finish_reasons,
        [*calls.calls(), *output.calls],
        output.utterance,
        has_text_calls=bool(output.calls),
    )


@dataclass
class _Metadata:
    """What a server sends besides the answer. Some report usage with every chunk: the latest counts."""

    finish_reasons: set[str] = field(default_factory=set)
    usage: TokenUsage = field(default_factory=TokenUsage)

    def take(self, delta: TokenUsage | Finished) -> None:
        if isinstance(delta, TokenUsage):
            self.usage = delta
        else:
            self.finish_reasons.add(delta.reason)


def new_call_id() -> str:
    """For a call that came without one."""
    return f"call_{uuid.uuid4().hex[:24]}"
