"""One inference of the loop: streams the model's answer into the emitter and returns the calls it asks for."""

import uuid
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from chat.transcript.entries import SentBack
from chat.transcript.finish import CHARACTERS_USED_UP, LENGTH, TOKENS_USED_UP, WHOLE, Finish, finish_reason
from chat.transcript.tokens import count_tokens
from chat.transcript.usage import TokenUsage
from llm_worker.loop.allowance import LoopShare
from llm_worker.loop.brief import Brief
from llm_worker.loop.cycle import Cycle
from llm_worker.loop.deps import LoopDeps
from llm_worker.loop.emitter import DeltaSink, Emitter, OutputRoom, StepOutput
from llm_worker.loop.state import Utterance
from llm_worker.stream.call_assembler import (
    CallPreviewer,
    RequestedCall,
    storable_members,
    without_cut_arguments,
)
from llm_worker.stream.text_calls import TextCalls
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


@dataclass(frozen=True)
class Step:
    """The result of one inference. calls: the tool calls that the model asks for, in its order.

    utterance: the text shown since the latest round.  sent_back: the members that its server wants back with the round.
    """

    finish: Finish
    calls: list[RequestedCall]
    utterance: Utterance
    sent_back: SentBack | None = None


async def run_llm_step(
    brief: Brief, cycle: Cycle, deps: LoopDeps, emitter: Emitter, share: LoopShare
) -> Step:
    """Stream one answer into `emitter`. Counts the inference, and the tokens it used however it ends.

    Raises UsedUp if it must not be sent; ModelFailed.
    """
    parameters = {tool.name: tool.parameters for tool in cycle.tools}
    room = emitter.begin_step(TextCalls(parameters, new_call_id) if parameters else None)
    request = cycle.request
    limit = share.begin(cycle.need._replace(max_output=request.model.max_output_tokens))
    if limit:
        request = replace(request, model=replace(request.model, max_output_tokens=limit))
    deps.on_request(brief.inside, request, cycle.report)
    # Calls are shown while they are written, but for those in agent tools, those that may be merged, and the caller's,
    # who gets the arguments that are stored.
    previewable = (
        () if brief.inside else {tool.name for tool in cycle.tools if not (tool.merges or tool.is_callers)}
    )
    offered = [tool["function"]["name"] for tool in request.tools]
    answer = _Answer(request, CallPreviewer(new_call_id, previewable, offered), room)
    output, finish = None, WHOLE
    try:
        async with aclosing(deps.models.stream(request)) as deltas:
            await answer.read(deltas, emitter)
        output = emitter.end_step()
        finish = answer.finish(output, is_limited=limit is not None)
    except ModelFailed as failure:
        answer.fail(failure)
        raise
    finally:
        answer.write_log()
        usage = answer.used(output or emitter.break_off_step(), cycle.need.prompt)
        emitter.state.count_step(usage, finish)
        share.end(usage)
    deps.on_usage(request, answer.usage)
    return answer.step(output, finish)


@dataclass
class _Answer:
    """What a server sends in answer to a request, besides the text that readers are shown.

    usage: as reported. Some servers report it with every chunk: the latest counts.
    """

    request: Request
    previewer: CallPreviewer
    room: OutputRoom
    log: ResponseLog = field(default_factory=ResponseLog)
    finish_reasons: set[str] = field(default_factory=set)
    usage: TokenUsage = field(default_factory=TokenUsage)
    has_reasoning: bool = False
    sent: SentMembers | None = None
    has_failed: bool = False

    async def read(self, answer: AsyncGenerator[list[Delta]], emitter: Emitter) -> None:
        """Show the answer until it ends, or has all the characters that it may have."""
        sink: DeltaSink = emitter
        async for deltas in answer:
            self.log.take(deltas)
            for delta in deltas:
                match delta:
                    case TextDelta(text):
                        sink.text(text)
                    case ReasoningDelta(text):
                        sink.reasoning(text)
                        self.has_reasoning = True
                    case ToolCallDelta():
                        self.previewer.feed(delta)
                    case _:
                        self._note(delta)
            # Once per read: several short calls that arrive together are not mistaken for a single one.
            if self.previewer.has_new_deltas and (fragment := self.previewer.next_fragment()):
                sink = emitter.call(fragment)
            if self.room.is_full:
                return

    def _note(self, delta: TokenUsage | Finished | SentMembers) -> None:
        if isinstance(delta, TokenUsage):
            self.usage = delta
        elif isinstance(delta, SentMembers):
            self.sent = delta
        else:
            self.finish_reasons.add(delta.reason)

    def fail(self, failure: ModelFailed) -> None:
        self.has_failed = True
        self.log.fail(failure)

    def write_log(self) -> None:
        calls = self.previewer.calls()
        self.log.write(self.request.model.name, ((call.id, call.name, call.raw) for call in calls))

    def used(self, output: StepOutput, prompt_tokens: int) -> TokenUsage:
        """Return the tokens that the inference used. Those that the server has not reported are estimated."""
        # A server that cannot be reached, or refuses the request, has used nothing.
        has_written = output.written or any(call.raw for call in self.previewer.calls())
        if self.has_failed and not has_written:
            return self.usage
        return self.usage.completed(prompt_tokens, lambda: self._count(output))

    def finish(self, output: StepOutput, *, is_limited: bool) -> Finish:
        """Return how the answer finished. is_limited: the request has less output than the model allows."""
        reason = finish_reason(self.finish_reasons)
        if self.room.is_full:
            return Finish(CHARACTERS_USED_UP)
        if reason != LENGTH:
            return Finish(reason)
        if is_limited:
            # Not a limit of the model: a continuation would find the tokens of the run used up.
            return Finish(TOKENS_USED_UP)
        tokens = self.usage.completion_tokens or self.request.model.max_output_tokens
        return Finish(reason, tokens or self._count(output))

    def step(self, output: StepOutput, finish: Finish) -> Step:
        if finish.is_at_run_limit:
            return Step(finish, [], output.utterance)
        calls = self.previewer.calls()
        asked = without_cut_arguments(calls) if finish.reason == LENGTH else calls
        return Step(finish, [*asked, *output.calls], output.utterance, self._sent_back(asked))

    def _count(self, output: StepOutput) -> int:
        texts = (output.written, *(call.raw for call in self.previewer.calls()))
        return sum(map(count_tokens, texts))

    def _sent_back(self, calls: Iterable[RequestedCall]) -> SentBack | None:
        """Return what the server of these calls wants back; None if it wants nothing."""
        sent = self.sent or SentMembers("", {})
        members = storable_members(sent.members)
        # Reasoning that was a part of the content goes back there.
        otherwise = "" if CONTENT in sent.members else "reasoning_content"
        name = (sent.reasoning_name or otherwise) if self.has_reasoning else ""
        of_calls = {call.id: storable_members(call.members) for call in calls if call.members}
        has_any = name or members or of_calls
        return SentBack(self.request.model.source, name, members, of_calls) if has_any else None


def new_call_id() -> str:
    """Create an id for a call that came without one."""
    return f"call_{uuid.uuid4().hex[:24]}"
