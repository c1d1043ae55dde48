"""What a response was asked: the items that OpenAI's API lists as its input."""

from collections.abc import Collection, Sequence
from itertools import groupby
from typing import Any

from chat.models import ChatMessage, MessageFile, Run, ToolCall
from chat.models.tool_call import ToolCallStatus
from features.openai.approvals import present_decisions
from features.openai.response_items import MESSAGE, Call, Text
from features.openai.response_parts import ResponsePart
from features.openai.responses import caller_functions
from knowledge.models import FileKind


def present_input(part: ResponsePart) -> dict[str, Any]:
    """Return the list of the input of a response."""
    if part.start:
        return list_items(present_decisions(part.before))
    return list_items([present_question(part.run.turn.user_message), *present_outputs(part.run)])


def list_items(items: Sequence[dict[str, Any]], *, has_more: bool = False) -> dict[str, Any]:
    """Return the list of items. Of an empty one, the first and the last have empty ids."""
    first, last = (items[0]["id"], items[-1]["id"]) if items else ("", "")
    return {"object": "list", "data": [*items], "first_id": first, "last_id": last, "has_more": has_more}


def present_question(question: ChatMessage) -> dict[str, Any]:
    """Return the item of a question."""
    parts: list[dict[str, Any]] = [{"type": "input_text", "text": question.text}] if question.text else []
    for row in MessageFile.objects.chosen().filter(message=question):
        file_id = str(row.file_id)
        if row.file.kind == FileKind.IMAGE:
            parts.append({"type": "input_image", "detail": "auto", "file_id": file_id})
        else:
            parts.append({"type": "input_file", "file_id": file_id, "filename": row.file.name})
    name = f"msg_{question.pk.hex}"
    return {"id": name, "type": "message", "role": "user", "status": "completed", "content": parts}


def present_outputs(run: Run) -> list[dict[str, Any]]:
    """Return the calls whose outputs a run was given, with these."""
    return [item for item in present_rounds(run) if item["type"].startswith("function_call")]


def present_rounds(run: Run) -> list[dict[str, Any]]:
    """Return what was written before each of the rounds that a run was given, and their calls, the caller's with outputs."""
    rows = [*ToolCall.objects.filter(message=run.message_id, turn_number__lt=run.turn.given_rounds)]
    functions = caller_functions(run) | {call.name for call in rows if _is_answered(call)}
    items: list[dict[str, Any]] = []
    for _, of_round in groupby(rows, lambda call: call.turn_number):
        calls = [*of_round]
        if text := calls[0].text_before.lstrip("\n"):
            message = Text(MESSAGE, f"msg_{calls[0].pk.hex}")
            items.append(message.item("completed", message.part(text)))
        for call in calls:
            items += _present_call(call, functions)
    return items


def _present_call(call: ToolCall, functions: Collection[str]) -> list[dict[str, Any]]:
    """Return the items of a call: of the caller's, those that were answered alone. Others were the model's to mend."""
    # Of documents, only readers of their bases may see more than the answer cites.
    output = "" if call.documents else call.response
    item = Call(call.name, call.tool_call_id, call.arguments, output=output, status=call.status)
    if _is_answered(call):
        item.id = f"fc_{call.pk.hex}"
        return [item.function_item("completed"), _present_output(call)]
    if call.name in functions and call.duration_ms is None:
        return []
    item.id = f"mcp_{call.pk.hex}"
    return [item.item("completed" if call.status == ToolCallStatus.COMPLETED else "failed")]


def _is_answered(call: ToolCall) -> bool:
    """Return whether the caller has carried the call out: how long one of Turnwire's own tools ran is measured."""
    return call.status == ToolCallStatus.COMPLETED and call.duration_ms is None


def present_later_outputs(run: Run) -> list[dict[str, Any]]:
    """Return the outputs of the calls that a run has handed over, where they came with the next question."""
    return [_present_output(call) for call in ToolCall.objects.with_later_outputs(run)]


def _present_output(call: ToolCall) -> dict[str, Any]:
    of_call = {"call_id": call.tool_call_id, "status": "completed"}
    return {"id": f"fco_{call.pk.hex}", "type": "function_call_output", "output": call.response, **of_call}
