"""Inference: one step of a loop, counted against what its run may use."""

from collections.abc import Collection
from dataclasses import replace

from chat.transcript.finish import LENGTH, TOKENS_USED_UP, Finish
from chat.transcript.tokens import count_tokens
from llm_worker.loop.allowance import LoopShare, TokenNeed
from llm_worker.loop.emitter import Emitter
from llm_worker.loop.step import InferenceUse, Step, StreamingModels, run_llm_step
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Request


class Inference:
    """One inference. request: as it is sent, its output limited to the tokens that are left."""

    def __init__(self, request: Request, share: LoopShare, need: TokenNeed) -> None:
        """Count the inference. Raises UsedUp if it must not be sent."""
        need = need._replace(max_output=request.model.max_output_tokens)
        self._share = share
        self._prompt_tokens = need.prompt
        self._most = share.begin(need)
        model = replace(request.model, max_output_tokens=self._most) if self._most else request.model
        self.request = replace(request, model=model)

    async def run(self, models: StreamingModels, emitter: Emitter, previewable: Collection[str] = ()) -> Step:
        """Run the step, then count the tokens it used, also if it fails or is cancelled."""
        use, is_counted = InferenceUse(), True
        try:
            step = await run_llm_step(self.request, models, emitter, previewable, use)
        except ModelFailed:
            # A server that cannot be reached, or refuses the request, has used nothing.
            is_counted = bool(emitter.written_in_step)
            raise
        finally:
            usage = use.reported
            if is_counted:
                texts = (emitter.written_in_step, *use.calls)
                usage = usage.completed(self._prompt_tokens, lambda: sum(map(count_tokens, texts)))
            emitter.state.count_step(usage)
            self._share.end(usage)
        if self._most and step.finish.reason == LENGTH:
            # Not a limit of the model: a continuation would find the tokens of the run used up.
            emitter.state.finish = finish = Finish(TOKENS_USED_UP)
            step = replace(step, finish=finish, calls=[])
        return step
