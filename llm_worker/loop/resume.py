"""Resumes a run after earlier attempts: finished rounds are replayed to readers, and their calls do not run again."""

from typing import Final

from chat.transcript.entries import Call, Round
from chat.transcript.rebuild import ShownCall, ShownRound, documents_of
from llm_worker.loop.brief import Brief
from llm_worker.loop.call_approval import after_decision
from llm_worker.loop.calls import CallResult, PlannedCall, plan_after_end, plan_after_loss
from llm_worker.loop.deps import LoopDeps
from llm_worker.loop.emitter import Emitter
from llm_worker.loop.round_runner import EndedRound, Loop, RoundRunner, RoundStart
from llm_worker.loop.state import Utterance
from llm_worker.tools.tool import Tool

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
