"""Converts messages to the dicts of the chat completions API; the only place that builds them. Pure."""

from collections.abc import Iterable
from typing import Any, Final

from chat.transcript.entries import Call
from llm_worker.request.model_message import LanguageModelInput, Message, arguments_json

# The member under which most servers give reasoning, and want it back.
REASONING: Final = "reasoning_content"
# Of a message without reasoning, for servers that demand some: they refuse an empty text, too.
NO_REASONING: Final = " "


def to_api_messages(messages: LanguageModelInput) -> list[dict[str, Any]]:
    """Convert the messages, in the same order. The content is a plain string unless images are attached."""
    return [_wire(message) for message in messages]


def with_reasoning(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the messages of the API with a reasoning_content in each of the assistant."""
    return [
        {REASONING: message.get("reasoning") or NO_REASONING, **message}
        if message["role"] == "assistant"
        else message
        for message in messages
    ]


def _wire(message: Message) -> dict[str, Any]:
    wire: dict[str, Any] = {"role": message.role, "content": message.text}
    if message.images:
        shown = [{"type": "image_url", "image_url": {"url": image.url}} for image in message.images]
        wire["content"] = [{"type": "text", "text": message.text}, *shown]
    if message.calls:
        # Not "" and not absent: some servers reject empty content beside tool calls, others missing content.
        wire["content"] = message.text or None
        members = dict(message.members)
        of_calls = members.pop("tool_calls", {})
        if thinking := members.pop("content", None):
            wire["content"] = [*thinking, *([{"type": "text", "text": message.text}] if message.text else [])]
        wire |= members
        wire["tool_calls"] = [{**of_calls.get(call.id, {}), **_wire_call(call)} for call in message.calls]
    if message.tool_call_id:
        wire["tool_call_id"] = message.tool_call_id
    return wire


def _wire_call(call: Call) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments_json(call.arguments)}
    return {"id": call.id, "type": "function", "function": function}
