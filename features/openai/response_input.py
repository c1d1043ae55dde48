"""What a response was asked: the items that OpenAI's API lists as its input."""

from collections.abc import Sequence
from typing import Any

from msgspec import json

from chat.models import ChatMessage, MessageFile, Run, ToolCall
from chat.models.tool_call import ToolCallStatus
from features.openai.approvals import present_decisions
from features.openai.response_parts import ResponsePart
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
    parts: list[dict[str, Any]] = [{"type": "input_text", "text": question.text}]
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
    items: list[dict[str, Any]] = []
    for call in ToolCall.objects.filter(message=run.message_id, turn_number__lt=run.turn.given_rounds):
        of_call = {"call_id": call.tool_call_id, "status": "completed"}
        arguments = json.encode(call.arguments).decode()
        called = {"type": "function_call", "name": call.name, "arguments": arguments}
        items += [{"id": f"fc_{call.pk.hex}", **called, **of_call}, _present_output(call)]
    return items


def present_later_outputs(run: Run) -> list[dict[str, Any]]:
    """Return the outputs of the calls that a run has handed over, where they came with the next question."""
    pending = ToolCall.objects.filter(run=run, status=ToolCallStatus.PENDING).exclude(response="")
    return [_present_output(call) for call in pending]


def _present_output(call: ToolCall) -> dict[str, Any]:
    of_call = {"call_id": call.tool_call_id, "status": "completed"}
    return {"id": f"fco_{call.pk.hex}", "type": "function_call_output", "output": call.response, **of_call}
