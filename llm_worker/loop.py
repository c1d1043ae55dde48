"""The LLM loop: inferences and rounds of tools until there is an answer. Knows nothing of rows, leases and stops.

It decides by what steps and rounds return, never by what has been saved so far (RunState).
"""

from collections.abc import Sequence

from chat.transcript.entries import Round
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
from llm_worker.state import Utterance
from llm_worker.step import Step, new_call_id, run_llm_step
from llm_worker.stream.text_calls import TextCalls
from llm_worker.tool_calls.calls import plan_calls
from llm_worker.tool_calls.round_runner import LoopDeps, RoundRunner, RoundStart
from llm_worker.tools.tool import Tool
from llm_worker.upstream.deltas import ModelFailed

REFUSALS = frozenset({"refusal", "content_filter"})


async def run_llm_loop(brief: Brief, deps: LoopDeps, emitter: Emitter) -> str:
    """Answer into `emitter`; returns the text after the last round of tools.

    Raises ModelFailed, after which what was shown so far is kept.
    """
    emitter.cite_from(brief.documents)
    rounds = await _resume(brief, deps, emitter)
    prefill, reads_text_calls = brief.earlier.text, True
    while True:
        cycle = build_cycle(brief, rounds)
        emitter.begin_step(_text_calls(cycle.tools) if reads_text_calls else None)
        request = with_prefill(cycle.request, prefill) if prefill else cycle.request
        prefill = ""
        deps.on_request(brief.inside, request, cycle.report)
        step = await run_llm_step(request, deps.models, emitter, _previewable(brief, cycle.tools))
        # Once per turn: further markup is talk about tools.
        reads_text_calls = reads_text_calls and not step.has_text_calls
        if not (step.calls and cycle.tools):
            break
        runner = RoundRunner(brief, deps, emitter, run_llm_loop)
        calls = plan_calls(step.calls, cycle.tools)
        rounds.append(await runner.run(calls, RoundStart(len(rounds), step.utterance)))
    _check(step)
    return step.utterance.text


async def _resume(brief: Brief, deps: LoopDeps, emitter: Emitter) -> list[Round]:
    """Continue where earlier attempts ended: the rounds so far, of which an interrupted one is run to its end."""
    earlier, rounds = brief.earlier, list[Round]()
    for each in earlier.rounds:
        if is_finished(each):
            rounds.append(replay_round(each, emitter, silently=earlier.is_shown))
        else:
            replay_text_before(each, emitter, silently=earlier.is_shown)
            runner = RoundRunner(brief, deps, emitter, run_llm_loop, resumed=each)
            start = RoundStart(len(rounds), Utterance(each.text_before, each.reasoning, each.reasoning_ms))
            rounds.append(await runner.run(plan_unfinished_calls(each, brief.tools), start))
    continue_text(earlier.text, earlier.reasoning, emitter)
    return rounds


def _previewable(brief: Brief, tools: Sequence[Tool]) -> set[str]:
    """Tools whose calls are shown while the model writes them: none inside agent tools, and none that may be merged."""
    return set() if brief.inside else {tool.name for tool in tools if not tool.merges}


def _text_calls(tools: Sequence[Tool]) -> TextCalls | None:
    return TextCalls({tool.name: tool.parameters for tool in tools}, new_call_id) if tools else None


def _check(step: Step) -> None:
    """Raise ModelFailed unless the last step gave an answer."""
    if "refusal" in step.finish_reasons:
        raise ModelFailed("model_refusal", "the model sent a refusal")
    if not step.utterance.text.strip():
        code = "model_refusal" if step.finish_reasons & REFUSALS else "empty_response"
        raise ModelFailed(code, f"no text; finish reasons: {sorted(step.finish_reasons)}")
