"""Inference: one step of a loop, counted against what its run may use."""

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from chat.transcript.finish import LENGTH, TOKENS_USED_UP, Finish
from chat.transcript.token_usage import TokenUsage
from chat.transcript.tokens import count_tokens
from llm_worker.allowance import LoopShare, TokenNeed
from llm_worker.emitter import Emitter
from llm_worker.step import Step, StreamingModels, run_llm_step
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Request

# Of a server that cannot be reached, or refuses the request.
_NOTHING: Final = TokenUsage(0, 0)


class Inference:
    """request: as it is sent, its output limited to the tokens that are left."""

    def __init__(self, request: Request, share: LoopShare, need: TokenNeed) -> None:
        """Count it. Raises UsedUp; then it must not be sent."""
        need = need._replace(max_output=request.model.max_output_tokens)
        self._share = share
        self._most = share.begin(need)
        model = replace(request.model, max_output_tokens=self._most) if self._most else request.model
        self.request = replace(request, model=model)

    async def run(self, models: StreamingModels, emitter: Emitter, previewable: Collection[str] = ()) -> Step:
        """run_llm_step, after which what it used is counted, also if it fails or is cancelled."""
        usage, raw_calls = TokenUsage(), list[str]()
        try:
            step = await run_llm_step(self.request, models, emitter, previewable)
            usage, raw_calls = step.usage, [call.raw for call in step.calls]
        except ModelFailed:
            if not emitter.written_in_step:
                usage = _NOTHING
            raise
        finally:
            self._share.end(usage, lambda: sum(map(count_tokens, (emitter.written_in_step, *raw_calls))))
        if self._most and step.finish.reason == LENGTH:
            # No limit of the model: asked to continue, it would find the tokens of the run used up.
            emitter.state.finish = finish = Finish(TOKENS_USED_UP)
            step = replace(step, finish=finish, calls=[])
        return step
