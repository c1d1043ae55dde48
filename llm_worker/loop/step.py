"""One inference of the loop: streams the model's answer into the emitter and returns the calls it asks for."""

import uuid
from collections.abc import AsyncGenerator, Callable, Collection, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from chat.transcript.entries import SentBack
from chat.transcript.finish import CHARACTERS_USED_UP, LENGTH, WHOLE, Finish, finish_reason
from chat.transcript.token_usage import TokenUsage
from chat.transcript.tokens import count_tokens
from llm_worker.loop.emitter import DeltaSink, Emitter
from llm_worker.loop.state import Utterance
from llm_worker.stream.arguments import storable_members
from llm_worker.stream.call_assembler import RequestedCall, without_cut_arguments
from llm_worker.stream.call_preview import CallPreviewer
from llm_worker.upstream.deltas import (
    Delta,
    Finished,
    ModelFailed,
    ReasoningDelta,
    SentMembers,
    TextDelta,
    ToolCallDelta,
)
from llm_worker.upstream.lenient import CONTENT
from llm_worker.upstream.model_request import Request
from llm_worker.upstream.request_logging import ResponseLog


class StreamingModels(Protocol):
    """Streams answers; upstream.llm.LanguageModels asks model servers."""

    def stream(self, request: Request) -> AsyncGenerator[list[Delta]]: ...


@dataclass(frozen=True)
class Step:
    """The result of one inference. calls: the tool calls that the model asks for, in its order.

    utterance: the text shown since the latest round.  has_text_calls: the model wrote calls as text.
    sent_back: the members that its server wants back with the round.  usage: as the server reported it.
    """

    finish: Finish
    calls: list[RequestedCall]
    utterance: Utterance
    usage: TokenUsage = field(default_factory=TokenUsage)
    has_text_calls: bool = False
    sent_back: SentBack | None = None


@dataclass
class InferenceUse:
    """The known use of an inference, however it ended. calls: the arguments that the model wrote, per call."""

    reported: TokenUsage = field(default_factory=TokenUsage)
    calls: list[str] = field(default_factory=list)


async def run_llm_step(
    request: Request,
    models: StreamingModels,
    emitter: Emitter,
    previewable: Collection[str] = (),
    use: InferenceUse | None = None,
) -> Step:
    """Stream one answer into `emitter`. Raises ModelFailed.

    previewable: the names of tools whose calls may be shown while they are being written.  use: filled in at the end.
    """
    use = use or InferenceUse()
    offered = [tool["function"]["name"] for tool in request.tools]
    parts = _Parts(_Metadata(), CallPreviewer(new_call_id, previewable, offered), ResponseLog())
    metadata, calls = parts.metadata, parts.calls
    try:
        async with aclosing(models.stream(request)) as answer:
            await _read(answer, emitter, parts)
    except ModelFailed as failure:
        parts.log.fail(failure)
        raise
    finally:
        use.reported, use.calls = metadata.usage, [call.raw for call in calls.calls()]
        emitter.state.finish = WHOLE
        parts.log.write(request.model.name, ((call.id, call.name, call.raw) for call in calls.calls()))
    output = emitter.end_step()
    if emitter.is_full:
        emitter.state.finish = full = Finish(CHARACTERS_USED_UP)
        return Step(full, [], output.utterance, metadata.usage)
    asked = calls.calls()
    emitter.state.finish = finish = metadata.finish(lambda: _limit(request, emitter, asked))
    asked = without_cut_arguments(asked) if finish.reason == LENGTH else asked
    sent_back = metadata.sent_back(request.model.source, asked)
    asked += output.calls
    return Step(finish, asked, output.utterance, metadata.usage, bool(output.calls), sent_back)


class _Parts(NamedTuple):
    """The parts of a stream besides the text that readers are shown."""

    metadata: "_Metadata"
    calls: CallPreviewer
    log: ResponseLog


async def _read(answer: AsyncGenerator[list[Delta]], emitter: Emitter, parts: _Parts) -> None:
    """Show the answer until it ends, or has all the characters that it may have."""
    sink: DeltaSink = emitter
    metadata, calls, log = parts
    async for deltas in answer:
        log.take(deltas)
        for delta in deltas:
            match delta:
                case TextDelta(text):
                    sink.text(text)
                case ReasoningDelta(text):
                    sink.reasoning(text)
                    metadata.has_reasoning = True
                case ToolCallDelta():
                    calls.feed(delta)
                case _:
                    metadata.take(delta)
        # Once per read: several short calls that arrive together are not mistaken for a single one.
        if calls.has_new_deltas and (fragment := calls.next_fragment()):
            sink = emitter.call(fragment)
        if emitter.is_full:
            return


@dataclass
class _Metadata:
    """The data that a server sends besides the answer. Some report usage with every chunk: the latest counts."""

    finish_reasons: set[str] = field(default_factory=set)
    usage: TokenUsage = field(default_factory=TokenUsage)
    has_reasoning: bool = False
    sent: SentMembers | None = None

    def sent_back(self, source: str, calls: Iterable[RequestedCall]) -> SentBack | None:
        """Return what the server of these calls wants back; None if it wants nothing."""
        sent = self.sent or SentMembers("", {})
        members = storable_members(sent.members)
        # Reasoning that was a part of the content goes back there.
        otherwise = "" if CONTENT in sent.members else "reasoning_content"
        name = (sent.reasoning_name or otherwise) if self.has_reasoning else ""
        of_calls = {call.id: storable_members(call.members) for call in calls if call.members}
        has_any = name or members or of_calls
        return SentBack(source, name, members, of_calls) if has_any else None

    def finish(self, limit: Callable[[], int]) -> Finish:
        """Return how the answer finished. limit: returns the tokens where it was cut, if none are reported."""
        reason = finish_reason(self.finish_reasons)
        return Finish(reason, (self.usage.completion_tokens or limit()) if reason == LENGTH else None)

    def take(self, delta: TokenUsage | Finished | SentMembers) -> None:
        if isinstance(delta, TokenUsage):
            self.usage = delta
        elif isinstance(delta, SentMembers):
            self.sent = delta
        else:
            self.finish_reasons.add(delta.reason)


def _limit(request: Request, emitter: Emitter, calls: Iterable[RequestedCall]) -> int:
    """Return the tokens where an inference was cut, without reported usage: the limit of the request, or a count."""
    texts = (emitter.written_in_step, *(call.raw for call in calls))
    return request.model.max_output_tokens or sum(map(count_tokens, texts))


def new_call_id() -> str:
    """Create an id for a call that came without one."""
    return f"call_{uuid.uuid4().hex[:24]}"
