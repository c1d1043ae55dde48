"""The LLM loop: inferences and rounds of tools until there is an answer. Knows nothing of rows, leases and stops."""

from collections.abc import Sequence

from llm_worker.brief import Brief
from llm_worker.cycle import build_cycle, with_prefill
from llm_worker.emitter import Emitter
from llm_worker.resume import (
    continue_text,
    is_finished,
    plan_unfinished_calls,
    replay_round,
    replay_text_before,
)
from llm_worker.step import Step, new_call_id, run_llm_step
from llm_worker.stream.text_calls import TextCalls
from llm_worker.tool_calls.calls import PlannedCall, plan_calls
from llm_worker.tool_calls.round_runner import LoopDeps, RoundRunner
from llm_worker.tool_calls.tool_round import execute
from llm_worker.tools.tool import Tool
from llm_worker.upstream.deltas import ModelFailed

REFUSALS = frozenset({"refusal", "content_filter"})


async def run_llm_loop(brief: Brief, deps: LoopDeps, emitter: Emitter) -> None:
    """Answer into `emitter` and its state. Raises ModelFailed, after which what was said so far is kept."""
    emitter.cite_from(brief.documents)
    await _take_up(brief, deps, emitter)
    said, reads_text = brief.earlier.said, True
    while True:
        cycle = build_cycle(brief, emitter.state.rounds)
        emitter.begin_step(_text_calls(cycle.tools) if reads_text else None)
        request = with_prefill(cycle.request, said) if said else cycle.request
        said = ""
        deps.sent(brief.inside, request, cycle.report)
        step = await run_llm_step(request, deps.models, emitter, _watchable(brief, cycle.tools))
        reads_text = not step.in_text and reads_text  # once a turn: more of it is talk about tools
        if not (step.calls and cycle.tools):
            break
        await _carry_out(plan_calls(step.calls, cycle.tools), RoundRunner(brief, deps, emitter, run_llm_loop))
    _check(step, emitter)


async def _take_up(brief: Brief, deps: LoopDeps, emitter: Emitter) -> None:
    """Go where earlier attempts have come to; a round that was cut short is carried out to its end."""
    earlier = brief.earlier
    for each in earlier.rounds:
        if is_finished(each):
            replay_round(each, emitter, silently=earlier.is_shown)
        else:
            replay_text_before(each, emitter, silently=earlier.is_shown)
            hosting = RoundRunner(brief, deps, emitter, run_llm_loop, resumed=each)
            await _carry_out(plan_unfinished_calls(each, brief.tools), hosting)
    continue_text(earlier.said, earlier.thought, emitter)


def _watchable(brief: Brief, tools: Sequence[Tool]) -> set[str]:
    """Tools whose calls are shown while the model writes them: not inside agent tools, and not what may be merged."""
    return set() if brief.inside else {tool.name for tool in tools if not tool.merges}


def _text_calls(tools: Sequence[Tool]) -> TextCalls | None:
    return TextCalls({tool.name: tool.parameters for tool in tools}, new_call_id) if tools else None


async def _carry_out(calls: Sequence[PlannedCall], hosting: RoundRunner) -> None:
    hosting.close(await execute(calls, hosting, hosting.limit_s))


def _check(step: Step, emitter: Emitter) -> None:
    """Refuse an answer that is none."""
    if "refusal" in step.reasons:
        raise ModelFailed("model_refusal", "the model sent a refusal")
    if not emitter.state.latest_text.strip():
        code = "model_refusal" if step.reasons & REFUSALS else "empty_response"
        raise ModelFailed(code, f"no text; finish reasons: {sorted(step.reasons)}")
