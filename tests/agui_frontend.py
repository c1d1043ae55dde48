"""What a frontend of AG-UI has, of the events alone: messages, as AG-UI's own client makes them."""

import json
from collections.abc import Iterable
from typing import Any

from ag_ui.core import Event
from ag_ui_validate.pytest_plugin import assert_valid_agui
from pydantic import TypeAdapter

EVENT: TypeAdapter[Any] = TypeAdapter(Event)
_STARTS = ("TEXT_MESSAGE_START", "REASONING_MESSAGE_START")
_CONTENTS = ("TEXT_MESSAGE_CONTENT", "REASONING_MESSAGE_CONTENT")


def check(events: list[dict[str, Any]]) -> None:
    """Check that each event has its type, and that their order is AG-UI's."""
    for event in events:
        EVENT.validate_python(event)
    assert_valid_agui(events, max_warnings=0)


def apply(messages: list[dict[str, Any]], events: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Do with the messages what events say, and return them."""
    for event in events:
        kind = event["type"]
        by_id = {message["id"]: message for message in messages}
        if kind == "MESSAGES_SNAPSHOT":
            messages[:] = json.loads(json.dumps(event["messages"]))
        elif kind in _STARTS and event["messageId"] not in by_id:
            messages.append({"id": event["messageId"], "role": event["role"], "content": ""})
        elif kind in _CONTENTS:
            message = by_id[event["messageId"]]
            message["content"] = message.get("content", "") + event["delta"]
        elif kind.startswith("TOOL_CALL_"):
            _apply_to_calls(messages, by_id, event)
        if kind == "TEXT_MESSAGE_END" and "metadata" in event:
            by_id[event["messageId"]]["metadata"] = event["metadata"]
    return messages


def _apply_to_calls(
    messages: list[dict[str, Any]], by_id: dict[str, dict[str, Any]], event: dict[str, Any]
) -> None:
    calls = {call["id"]: call for message in messages for call in message.get("toolCalls", ())}
    call_id = event["toolCallId"]
    match event["type"]:
        case "TOOL_CALL_START" if call_id not in calls:
            parent = by_id.get(event["parentMessageId"])
            if parent is None:
                parent = {"id": event["parentMessageId"], "role": "assistant"}
                messages.append(parent)
            function = {"name": event["toolCallName"], "arguments": ""}
            call = {"id": call_id, "type": "function", "function": function}
            parent.setdefault("toolCalls", []).append(call)
        case "TOOL_CALL_ARGS":
            calls[call_id]["function"]["arguments"] += event["delta"]
        case "TOOL_CALL_RESULT":
            result = {"id": event["messageId"], "role": "tool", "toolCallId": call_id}
            messages.append({**result, "content": event["content"]})
