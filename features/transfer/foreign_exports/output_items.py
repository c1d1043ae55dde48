"""The `output` of an answer in Open WebUI: items as in the Responses API, instead of a text. Pure."""

import json
from collections.abc import Iterator
from typing import Any

from features.transfer.foreign_exports.tree import END_OF_ROUND, Passage


def read_output(items: Any, key: str) -> list[Passage]:
    """Read the items. key: that of the message, for calls without an id. Anything that is not an item is left out."""
    passages: list[Passage] = []
    calls: dict[str, dict[str, Any]] = {}
    for number, item in enumerate(_objects(items)):
        kind, call_id = item.get("type"), str(item.get("call_id") or item.get("id") or f"{key}-{number}")
        if kind == "message":
            passages.append(Passage(text_of(item.get("content"))))
        elif kind == "reasoning":
            thoughts = text_of(item.get("content")) or text_of(item.get("summary"))
            passages.append(Passage(reasoning=thoughts))
        elif kind == "function_call":
            calls[call_id] = _call(call_id, item)
            passages.append(Passage(call=calls[call_id]))
        elif kind == "function_call_output" and call_id in calls:
            calls[call_id]["response"] = text_of(item.get("output"))
            passages.append(END_OF_ROUND)
    return passages


def _objects(items: Any) -> Iterator[dict[str, Any]]:
    return (item for item in items if isinstance(item, dict)) if isinstance(items, list) else iter(())


def text_of(content: Any) -> str:
    """Return the text of a content, which is a text or a list of parts."""
    if isinstance(content, str):
        return content
    texts = (part.get("text") for part in _objects(content))
    return "\n\n".join(text for text in texts if isinstance(text, str) and text)


def _call(call_id: str, item: dict[str, Any]) -> dict[str, Any]:
    arguments = item.get("arguments")
    try:
        read = json.loads(arguments) if isinstance(arguments, str) else arguments
    except (ValueError, RecursionError):
        read = arguments
    return {
        "tool_call_id": call_id[:200],
        "name": str(item.get("name") or "tool")[:64],
        "arguments": read if isinstance(read, dict) else {"input": read},
        "response": "",
    }
