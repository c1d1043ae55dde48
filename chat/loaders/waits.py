"""Loads where a run waits or waited for its user."""

from collections.abc import Sequence

from django.db.models import BooleanField, ExpressionWrapper, Q

from chat.models import Approval, Run, ToolCall
from chat.models.tool_call import ToolCallStatus
from chat.transcript.waits import Asked, Beside, CallerTools, Wait, find_waits


def load_waits(run: Run) -> Sequence[Wait]:
    """Load the waits of a run, oldest first. run: with its turn. What the caller itself carries out is left out."""
    rows = Approval.objects.filter(tool_call__message=run.message_id)
    places = "tool_call__turn_number", "tool_call__tab_index"
    columns = "name", "arguments", "kind", "decision", "note"
    # A stop refuses the call, and leaves its question as it is.
    is_open = ExpressionWrapper(
        Q(decision="", tool_call__status=ToolCallStatus.WAITING), output_field=BooleanField()
    )
    ordered = rows.order_by("requested_at", *places).values_list("pk", *places, *columns, is_open)
    asked = [Asked(*row) for row in ordered]
    if not asked:
        return ()
    functions = [function.name for function in CallerTools.from_json(run.turn.caller_tools).functions]
    has_ended = ExpressionWrapper(~Q(response=""), output_field=BooleanField())
    calls = ToolCall.objects.filter(message=run.message_id, turn_number__in={call.round for call in asked})
    beside = calls.exclude(name__in=functions).order_by().values_list("turn_number", "tab_index", has_ended)
    return find_waits(asked, [Beside(*row) for row in beside])
