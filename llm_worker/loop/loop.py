"""The LLM loop: inferences and rounds of tools until there is an answer. Knows nothing of rows, leases and stops.

Its decisions depend on the results of steps and rounds, never on what has been saved so far (RunState).
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from chat.infrastructure import log_context
from chat.transcript.entries import Round
from chat.transcript.finish import FILTERED, LENGTH, WHOLE
from chat.transcript.readable_text import without_break
from llm_worker.loop.allowance import UsedUp
from llm_worker.loop.brief import Brief
from llm_worker.loop.call_approval import mark_for_approval
from llm_worker.loop.calls import admit, plan_calls
from llm_worker.loop.cycle import build_cycle
from llm_worker.loop.deps import LoopDeps
from llm_worker.loop.emitter import Emitter
from llm_worker.loop.resume import resume
from llm_worker.loop.round_runner import LoopAnswer, RoundRunner, RoundStart
from llm_worker.loop.step import Step, run_llm_step
from llm_worker.side_requests.withheld import LoopTexts
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
