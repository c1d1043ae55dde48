"""How an attempt goes on with what those before it have left: finished rounds are shown again, not carried out."""

from collections.abc import Sequence

from chat.rebuilding import ShownCall, ShownRound, show_rounds, show_said
from chat.transcript import Call, Document, Round
from llm_worker.calls import Done, Planned, after_a_loss
from llm_worker.emitter import Emitter
from llm_worker.tools.tool import Tool


def is_finished(each: ShownRound) -> bool:
    return all(call.response for call in each.calls)


def show_again(each: ShownRound, emitter: Emitter, *, silently: bool) -> None:
    """A finished round. silently: readers see it already; only the counters move."""
    state = emitter.state
    cited = _citable(emitter)
    placed = list(show_rounds(emitter.blocks, [each], cited))
    if not silently:
        emitter.show(placed)
    _said_again(each, emitter, cited)
    state.open_round()
    state.rounds.append(replayed(each))


def show_beginning(each: ShownRound, emitter: Emitter, *, silently: bool) -> None:
    """What was said before a round that is now carried out to its end."""
    cited = _citable(emitter)
    placed = list(show_said(emitter.blocks, each.reasoning, each.text_before, cited))
    if not silently:
        emitter.show(placed)
    _said_again(each, emitter, cited)


def calls_to_finish(each: ShownRound, tools: Sequence[Tool]) -> list[Planned]:
    """The calls of a round that was cut short; what is known of their outcome stays."""
    by_name = {tool.name: tool for tool in tools}
    return [after_a_loss(_planned(call, by_name.get(call.name))) for call in each.calls]


def replayed(each: ShownRound) -> Round:
    """A finished round as the model sees it."""
    calls = tuple(Call(call.tool_call_id, call.name, call.arguments, call.response) for call in each.calls)
    return Round(calls, each.text_before, each.reasoning)


def _planned(call: ShownCall, tool: Tool | None) -> Planned:
    done = Done("completed", call.response, call.documents) if call.response else None
    return Planned(call.tool_call_id, call.name, call.arguments, tool, done)


def _citable(emitter: Emitter) -> dict[int, Document]:
    return {number: one for number, one in emitter.documents.items() if number not in emitter.cited}


def _said_again(each: ShownRound, emitter: Emitter, left: dict[int, Document]) -> None:
    """left: those that _citable gave and the text did not link to."""
    emitter.cited.update({number: one for number, one in _citable(emitter).items() if number not in left})
    emitter.state.keep(each.text_before, each.reasoning)
