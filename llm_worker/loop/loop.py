"""The LLM loop: inferences and rounds of tools until there is an answer. Knows nothing of rows, leases and stops.

Its decisions depend on the results of steps and rounds, never on what has been saved so far (RunState).
After earlier attempts, finished rounds are replayed to readers, and their calls do not run again.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from chat.infrastructure import log_context
from chat.transcript.entries import Call, Round
from chat.transcript.finish import FILTERED, LENGTH, WHOLE
from chat.transcript.readable_text import without_break
from chat.transcript.rebuild import ShownCall, ShownRound, documents_of
from llm_worker.loop.allowance import UsedUp
from llm_worker.loop.brief import Brief
from llm_worker.loop.calls import (
    CallResult,
    PlannedCall,
    admit,
    after_decision,
    mark_for_approval,
    plan_after_end,
    plan_after_loss,
    plan_calls,
)
from llm_worker.loop.cycle import build_cycle
from llm_worker.loop.deps import LoopDeps
from llm_worker.loop.emitter import Emitter
from llm_worker.loop.round_runner import EndedRound, Loop, LoopAnswer, RoundRunner, RoundStart
from llm_worker.loop.state import Utterance
from llm_worker.loop.step import Step, run_llm_step
from llm_worker.side_requests.withheld import LoopTexts
from llm_worker.tools.tool import Tool
from llm_worker.upstream.deltas import ModelFailed

# Of a call that the loss of a worker has interrupted.
_OPEN: Final = ("pending", "running")


async def resume(brief: Brief, deps: LoopDeps, emitter: Emitter, loop: Loop) -> list[EndedRound]:
    """Continue where earlier attempts ended. Returns the rounds so far; an interrupted round is run to its end."""
    earlier, rounds = brief.earlier, list[EndedRound]()
    by_name = {tool.name: tool for tool in brief.tools}
    for shown_round in earlier.rounds:
        is_whole = is_finished(shown_round)
        has_found = any(documents_of([shown_round]))
        emitter.replay(shown_round, is_finished=is_whole, silently=earlier.is_shown)
        if is_whole:
            calls = tuple(
                Call(call.tool_call_id, call.name, call.arguments, call.response, images=call.images)
                for call in shown_round.calls
            )
            ended = EndedRound(
                Round(calls, shown_round.text_before, shown_round.reasoning, shown_round.sent_back), has_found
            )
        else:
            start = RoundStart(
                len(rounds),
                Utterance(shown_round.text_before, shown_round.reasoning, shown_round.reasoning_ms),
                shown_round.sent_back,
                earlier.after_calls,
            )
            runner = RoundRunner(brief, deps, emitter, loop, resumed=shown_round)
            planned = [_plan_again(call, by_name.get(call.name)) for call in shown_round.calls]
            ended = await runner.run(planned, start)
            ended = ended._replace(has_found=ended.has_found or has_found)
        rounds.append(ended)
    emitter.continue_text(earlier.text, earlier.reasoning)
    return rounds


def is_finished(each: ShownRound) -> bool:
    """Return whether every call of the round has its response."""
    return all(call.response for call in each.calls)


def _plan_again(call: ShownCall, tool: Tool | None) -> PlannedCall:
    """Plan a call of an interrupted round again; a known result stays."""
    result = (
        CallResult("completed", call.response, call.documents, images=call.images) if call.response else None
    )
    planned = PlannedCall(call.tool_call_id, call.name, call.arguments, tool, result, answers=call.answers)
    if call.decision:
        return after_decision(planned, call.decision, call.asked_about)
    if call.status not in _OPEN:
        return plan_after_end(planned, call.status)
    # What the user has allowed may have run. What the name stands for now, they have not allowed.
    is_another = bool(tool and call.asked_about not in (None, tool.identity))
    return plan_after_end(planned, "unknown") if is_another else plan_after_loss(planned)


# Why an answer has no text, by the reason that its server gave for the end.
_NO_TEXT: Final = {FILTERED: "model_refusal", LENGTH: "output_limit_reached"}


async def run_llm_loop(brief: Brief, deps: LoopDeps, emitter: Emitter) -> LoopAnswer:
    """Answer into `emitter` and return the text that follows the last round of tools.

    Raises ModelFailed, after which the text shown so far is kept; UsedUp if an inner loop has no tokens or inferences
    left for its report; ApprovalNeeded if calls wait for their user.
    """
    share = deps.allowance.open_loop(is_outermost=not brief.inside)
    try:
        emitter.cite_from(brief.documents)
        ended = await resume(brief, deps, emitter, run_llm_loop)
        # Numbered like the stored requests, for each attempt and agent tool.
        for number in count(1):
            if ended and ended[-1].is_handed_over:
                return LoopAnswer("", WHOLE)
            rounds = [ended_round.round for ended_round in ended]
            # Without documents to which the user has lost access since the turn started.
            texts = await deps.knowledge.withhold(LoopTexts(brief.prompt_parts.dynamic_context, rounds))
            emitter.withhold_documents(texts.withheld)
            current = replace(
                brief,
                prompt_parts=replace(brief.prompt_parts, dynamic_context=texts.dynamic_context),
                tools=_enabled(brief.tools),
            )
            has_found = any(ended_round.has_found for ended_round in ended)
            cycle = build_cycle(current, texts.rounds, share, has_found=has_found)
            try:
                with log_context.bound(cycle=number):
                    step = await run_llm_step(brief, cycle, deps, emitter, share)
            except UsedUp as used_up:
                if brief.inside:
                    raise
                if not _has_text(brief, rounds):
                    raise ModelFailed("run_limit_reached", str(used_up)) from used_up
                # The text before the last round stays the answer.
                return LoopAnswer("", emitter.state.end_without_tokens())
            # Calls of tools that are not offered are answered too, even where no tool is offered.
            if cycle.is_last or not step.calls:
                break
            asked = plan_calls(step.calls, _enabled(cycle.tools))
            planned = admit(mark_for_approval(asked, brief.tools_needing_approval), deps.allowance)
            runner = RoundRunner(brief, deps, emitter, run_llm_loop)
            ended.append(await runner.run(planned, RoundStart(len(rounds), step.utterance, step.sent_back)))
    finally:
        share.close()
    _check(step, has_text=_has_text(brief, rounds))
    return LoopAnswer(without_break(step.utterance.text), step.finish)


def _enabled(tools: Sequence[Tool]) -> list[Tool]:
    return [tool for tool in tools if not tool.is_disabled]


def _has_text(brief: Brief, rounds: Sequence[Round]) -> bool:
    """Return whether readers were shown any text before the last inference."""
    earlier = brief.earlier
    texts = (earlier.text, earlier.after_calls.text, *(ended.text_before for ended in rounds))
    return any(text.strip() for text in texts)


def _check(step: Step, *, has_text: bool) -> None:
    """Raise ModelFailed unless the last step gave an answer. has_text: readers were shown text before it."""
    reason = step.finish.reason
    if reason == "refusal":
        raise ModelFailed("model_refusal", "the model sent a refusal")
    if not step.utterance.text.strip():
        if step.finish.is_at_run_limit and has_text:
            return
        code = "run_limit_reached" if step.finish.is_at_run_limit else _NO_TEXT.get(reason, "empty_response")
        raise ModelFailed(code, f"no text; finish reason: {reason}")
