"""What a response was asked: the items that OpenAI's API lists as its input."""

from typing import Any

from msgspec import json

from chat.models import MessageFile, Run, ToolCall
from features.openai.approvals import present_decisions
from features.openai.response_parts import ResponsePart
from knowledge.models import FileKind


def present_input(part: ResponsePart) -> dict[str, Any]:
    """Return the list of the input of a response."""
    items = present_decisions(part.before) if part.start else _question(part.run)
    first, last = items[0]["id"], items[-1]["id"]
    return {"object": "list", "data": items, "first_id": first, "last_id": last, "has_more": False}


def _question(run: Run) -> list[dict[str, Any]]:
    """Return the question of a run, and the calls whose outputs it was given."""
    question = run.turn.user_message
    parts: list[dict[str, Any]] = [{"type": "input_text", "text": question.text}]
    for row in MessageFile.objects.chosen().filter(message=question):
        file_id = str(row.file_id)
        if row.file.kind == FileKind.IMAGE:
            parts.append({"type": "input_image", "detail": "auto", "file_id": file_id})
        else:
            parts.append({"type": "input_file", "file_id": file_id, "filename": row.file.name})
    name = f"msg_{question.pk.hex}"
    items: list[dict[str, Any]] = [
        {"id": name, "type": "message", "role": "user", "status": "completed", "content": parts}
    ]
    for call in ToolCall.objects.filter(message=run.message_id, turn_number__lt=run.turn.given_rounds):
        of_call = {"call_id": call.tool_call_id, "status": "completed"}
        arguments = json.encode(call.arguments).decode()
        called = {"type": "function_call", "name": call.name, "arguments": arguments}
        items.append({"id": f"fc_{call.pk.hex}", **called, **of_call})
        output = {"type": "function_call_output", "output": call.response}
        items.append({"id": f"fco_{call.pk.hex}", **output, **of_call})
    return items
