"""Resumes a run after earlier attempts: finished rounds are replayed to readers, and their calls do not run again."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Final

from chat.transcript.citations import linked_documents
from chat.transcript.entries import Call, Document, Round
from chat.transcript.packets import Placed
from chat.transcript.rebuild import ShownCall, ShownRound, documents_of, show_before, show_rounds
from llm_worker.loop.call_approval import after_decision
from llm_worker.loop.calls import CallResult, PlannedCall, plan_after_end, plan_after_loss
from llm_worker.loop.emitter import Emitter
from llm_worker.tools.tool import Tool

# Of a call that the loss of a worker has interrupted.
_OPEN: Final = ("pending", "running")


def is_finished(each: ShownRound) -> bool:
    """Return whether every call of the round has its response."""
    return all(call.response for call in each.calls)


def replay_round(each: ShownRound, emitter: Emitter, *, silently: bool) -> Round:
    """Show a finished round again and return it as the model sees it. silently: readers see it already."""
    _replay(each, emitter, partial(show_rounds, emitter.blocks, [each]), silently=silently)
    emitter.open_round()
    return to_round(each)


def replay_text_before(each: ShownRound, emitter: Emitter, *, silently: bool) -> None:
    """Show again the text before a round whose calls are now run to their end. silently: readers see it already."""
    _replay(each, emitter, partial(show_before, emitter.blocks, each), silently=silently)


def continue_text(text: str, reasoning: str, emitter: Emitter) -> None:
    """Take over the text that was shown after the rounds; readers see it already."""
    emitter.restore(text, reasoning, linked_documents(text, _citable_documents(emitter).values()))


def plan_unfinished_calls(each: ShownRound, tools: Sequence[Tool]) -> list[PlannedCall]:
    """Plan the calls of an interrupted round again; known results stay."""
    by_name = {tool.name: tool for tool in tools}
    return [_unfinished(call, by_name.get(call.name)) for call in each.calls]


def to_round(each: ShownRound) -> Round:
    """Convert a finished round to the form that the model sees."""
    calls = tuple(
        Call(call.tool_call_id, call.name, call.arguments, call.response, images=call.images)
        for call in each.calls
    )
    return Round(calls, each.text_before, each.reasoning, each.sent_back)


def _unfinished(call: ShownCall, tool: Tool | None) -> PlannedCall:
    planned = _planned(call, tool)
    if call.decision:
        return after_decision(planned, call.decision, call.asked_about)
    if call.status not in _OPEN:
        return plan_after_end(planned, call.status)
    # What the user has allowed may have run. What the name stands for now, they have not allowed.
    is_another = bool(tool and call.asked_about not in (None, tool.identity))
    return plan_after_end(planned, "unknown") if is_another else plan_after_loss(planned)


def _planned(call: ShownCall, tool: Tool | None) -> PlannedCall:
    result = (
        CallResult("completed", call.response, call.documents, images=call.images) if call.response else None
    )
    return PlannedCall(call.tool_call_id, call.name, call.arguments, tool, result, answers=call.answers)


def _citable_documents(emitter: Emitter) -> dict[int, Document]:
    return {number: one for number, one in emitter.documents.items() if number not in emitter.cited}


def _replay(
    each: ShownRound,
    emitter: Emitter,
    show: Callable[[dict[int, Document]], Iterator[Placed]],
    *,
    silently: bool,
) -> None:
    """Show and save a round again. show: removes the documents that the text links to from those it is given."""
    emitter.has_found |= any(documents_of([each]))
    citable = _citable_documents(emitter)
    left = dict(citable)
    placed = list(show(left))
    if not silently:
        emitter.show(placed)
    cited = [document for number, document in citable.items() if number not in left]
    emitter.restore(each.text_before, each.reasoning, cited)
