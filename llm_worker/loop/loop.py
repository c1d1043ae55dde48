"""The LLM loop: inferences and rounds of tools until there is an answer. Knows nothing of rows, leases and stops.

Its decisions depend on the results of steps and rounds, never on what has been saved so far (RunState).
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from chat.infrastructure import log_context
from chat.transcript.entries import Round
from chat.transcript.finish import FILTERED, LENGTH, TOKENS_USED_UP, Finish
from chat.transcript.passages import without_break
from llm_worker.loop.allowance import LoopShare, UsedUp
from llm_worker.loop.brief import Brief
from llm_worker.loop.call_approval import mark_for_approval
from llm_worker.loop.calls import admit, plan_calls
from llm_worker.loop.cycle import build_cycle, continued_request
from llm_worker.loop.emitter import Emitter
from llm_worker.loop.inference import Inference
from llm_worker.loop.resume import (
    continue_text,
    is_finished,
    plan_unfinished_calls,
    replay_round,
    replay_text_before,
)
from llm_worker.loop.round_runner import LoopAnswer, LoopDeps, RoundRunner, RoundStart
from llm_worker.loop.state import Utterance
from llm_worker.loop.step import Step, new_call_id
from llm_worker.side_requests.withheld import LoopTexts
from llm_worker.stream.text_calls import TextCalls
from llm_worker.tools.tool import Tool
from llm_worker.upstream.deltas import ModelFailed

# Why an answer has no text, by the reason that its server gave for the end.
_NO_TEXT: Final = {FILTERED: "model_refusal", LENGTH: "output_limit_reached"}


async def run_llm_loop(brief: Brief, deps: LoopDeps, emitter: Emitter) -> LoopAnswer:
    """Answer into `emitter` and return the text that follows the last round of tools.

    Raises ModelFailed, after which the text shown so far is kept; UsedUp if an inner loop has no tokens or inferences
    left for its report; ApprovalNeeded if calls wait for their user.
    """
    share = deps.allowance.open_loop(is_outermost=not brief.inside)
    try:
        return await _answer(brief, deps, emitter, share)
    finally:
        share.close()


async def _answer(brief: Brief, deps: LoopDeps, emitter: Emitter, share: LoopShare) -> LoopAnswer:
    emitter.cite_from(brief.documents)
    rounds = await _resume(brief, deps, emitter)
    is_continued, reads_text_calls = bool(brief.earlier.text), True
    # Numbered like the stored requests, for each attempt and agent tool.
    for number in count(1):
        allowed, shown = await _without_withheld(brief, rounds, deps, emitter)
        cycle = build_cycle(allowed, shown, share, has_found=emitter.has_found)
        emitter.begin_step(_text_calls(cycle.tools) if reads_text_calls else None)
        request = continued_request(cycle.request, brief.earlier) if is_continued else cycle.request
        is_continued = False
        try:
            inference = Inference(request, share, cycle.need)
        except UsedUp as used_up:
            return _end_without_tokens(brief, rounds, emitter, used_up)
        deps.on_request(brief.inside, inference.request, cycle.report)
        with log_context.bound(cycle=number):
            step = await inference.run(deps.models, emitter, _previewable(brief, cycle.tools))
        deps.on_usage(inference.request, step.usage)
        # Once per turn: further markup is talk about tools.
        reads_text_calls = reads_text_calls and not step.has_text_calls
        # Calls of tools that are not offered are answered too, even where no tool is offered.
        if cycle.is_last or not step.calls:
            break
        runner = RoundRunner(brief, deps, emitter, run_llm_loop)
        planned = mark_for_approval(plan_calls(step.calls, cycle.tools), brief.tools_needing_approval)
        calls = admit(planned, deps.allowance)
        rounds.append(await runner.run(calls, RoundStart(len(rounds), step.utterance, step.sent_back)))
    _check(step, has_text=_has_text(brief, rounds))
    return LoopAnswer(without_break(step.utterance.text), step.finish)


async def _without_withheld(
    brief: Brief, rounds: Sequence[Round], deps: LoopDeps, emitter: Emitter
) -> tuple[Brief, Sequence[Round]]:
    """Return brief and rounds without documents to which the user has lost access since the turn started."""
    context = brief.prompt_parts.dynamic_context
    material = await deps.knowledge.withhold(LoopTexts(context, rounds))
    emitter.withhold_documents(material.withheld)
    if material.dynamic_context == context:
        return brief, material.rounds
    parts = replace(brief.prompt_parts, dynamic_context=material.dynamic_context)
    return replace(brief, prompt_parts=parts), material.rounds


def _end_without_tokens(
    brief: Brief, rounds: Sequence[Round], emitter: Emitter, used_up: UsedUp
) -> LoopAnswer:
    """End a run without tokens: text before the last round stays the answer; without text, raise ModelFailed."""
    if brief.inside:
        raise used_up
    if not _has_text(brief, rounds):
        raise ModelFailed("run_limit_reached", str(used_up))
    emitter.state.finish = finish = Finish(TOKENS_USED_UP)
    return LoopAnswer("", finish)


async def _resume(brief: Brief, deps: LoopDeps, emitter: Emitter) -> list[Round]:
    """Continue where earlier attempts ended. Returns the rounds so far; an interrupted round is run to its end."""
    earlier, rounds = brief.earlier, list[Round]()
    for each in earlier.rounds:
        if is_finished(each):
            rounds.append(replay_round(each, emitter, silently=earlier.is_shown))
        else:
            replay_text_before(each, emitter, silently=earlier.is_shown)
            runner = RoundRunner(brief, deps, emitter, run_llm_loop, resumed=each)
            before = Utterance(each.text_before, each.reasoning, each.reasoning_ms)
            start = RoundStart(len(rounds), before, each.sent_back)
            rounds.append(await runner.run(plan_unfinished_calls(each, brief.tools), start))
    continue_text(earlier.text, earlier.reasoning, emitter)
    return rounds


def _previewable(brief: Brief, tools: Sequence[Tool]) -> set[str]:
    """Return the tools whose calls are shown while being written: none in agent tools, and none that may be merged."""
    return set() if brief.inside else {tool.name for tool in tools if not tool.merges}


def _text_calls(tools: Sequence[Tool]) -> TextCalls | None:
    return TextCalls({tool.name: tool.parameters for tool in tools}, new_call_id) if tools else None


def _has_text(brief: Brief, rounds: Sequence[Round]) -> bool:
    """Return whether readers were shown any text before the last inference."""
    return bool(brief.earlier.text.strip()) or any(each.text_before.strip() for each in rounds)


def _check(step: Step, *, has_text: bool) -> None:
    """Raise ModelFailed unless the last step gave an answer. has_text: readers were shown text before it."""
    reason = step.finish.reason
    if reason == "refusal":
        raise ModelFailed("model_refusal", "the model sent a refusal")
    if not step.utterance.text.strip():
        if step.finish.is_at_run_limit and has_text:
            return
        if step.finish.is_at_run_limit:
            raise ModelFailed("run_limit_reached", f"no text; finish reason: {reason}")
        code = _NO_TEXT.get(reason, "empty_response")
        raise ModelFailed(code, f"no text; finish reason: {reason}")
