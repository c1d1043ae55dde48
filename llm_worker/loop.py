"""The LLM loop of one run: inferences until there is an answer. Knows nothing of rows, leases and stops."""

from llm_worker.deltas import ModelFailed
from llm_worker.emitter import Emitter
from llm_worker.llm import Request
from llm_worker.state import RunState
from llm_worker.step import Models, run_llm_step

REFUSALS = frozenset({"refusal", "content_filter"})


async def run_llm_loop(request: Request, models: Models, emitter: Emitter, state: RunState) -> None:
    """Answer into `emitter` and `state`. Raises ModelFailed, after which what was said so far is kept."""
    reasons = await run_llm_step(request, models, emitter, state)
    if "refusal" in reasons:
        raise ModelFailed("model_refusal", "the model sent a refusal")
    if not state.text.strip():
        code = "model_refusal" if reasons & REFUSALS else "empty_response"
        raise ModelFailed(code, f"no text; finish reasons: {sorted(reasons)}")
