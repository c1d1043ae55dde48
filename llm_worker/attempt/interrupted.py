"""The call that readers saw being written when a run ended: it never ran and is not resumed.

It is stored with the end of the run, with the arguments received so far, so that a reload shows the same.
"""

from chat.models import Run, ToolCall
from llm_worker.attempt.round_store import row_of
from llm_worker.loop.calls import CallResult, PlannedCall
from llm_worker.loop.emitter import Emitter
from llm_worker.loop.stored_round import NewRound
from llm_worker.stream.arguments import parse_partial_arguments

# Without a response, so that no later request repeats it.
NEVER_RAN = CallResult("unknown", "")


def end_interrupted_call(run: Run, emitter: Emitter) -> list[ToolCall]:
    """Close the call on the screen and return its row, to be stored. Empty if no call was being written."""
    written, state = emitter.preview, emitter.state
    if written is None:
        return []
    call = PlannedCall(
        written.id,
        written.name,
        parse_partial_arguments("".join(written.pieces)),
        tool=None,
        result=NEVER_RAN,
    )
    new_round = NewRound(len(state.passages) - 1, [call], state.latest, inside="")
    row = row_of(run, new_round, 0, call)
    emitter.calls_are_stored()
    emitter.open_round()
    emitter.show(emitter.blocks.tool_arguments(0, call.arguments, str(row.pk)))
    emitter.show(emitter.blocks.close())
    return [row]
