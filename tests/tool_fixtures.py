"""Search results and scripted tool calls for tests of tools, and functions that read tool responses from a request."""

import json
from typing import Any

MOON = {"title": "Moon", "url": "https://moon.example/", "content": "It pulls."}
SUN = {"title": "Sun", "url": "https://sun.example/", "content": "It pulls less."}
SEA = {"title": "Sea", "url": "https://sea.example/", "content": "It is pulled."}
RESEARCH = {"call": {"name": "research_agent", "arguments": {"question": "Who pulls the sea?"}}}


def search_call(query: str) -> dict[str, Any]:
    """A call of web_search, as a step of the scripted upstream."""
    return {"call": {"name": "web_search", "arguments": {"query": query}}}


def tool_responses(request: Any) -> list[str]:
    """The contents of the tool messages of a request."""
    return [message["content"] for message in request.messages if message["role"] == "tool"]


def document_numbers(response: str) -> list[tuple[int, str]]:
    """(number, title) of each document in a web_search response."""
    documents = json.loads(response)["documents"]
    return [(one["document"], one["title"]) for one in documents]


def streamed_call(
    name: str, *pieces: str | dict[str, Any], call_id: str = "call_1", index: int = 0
) -> list[dict[str, Any]]:
    """The steps of a call whose arguments are streamed in these pieces; dicts among them are inserted as steps."""
    begin = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
    return [{"delta": {"tool_calls": [begin]}}] + [
        {"delta": {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}}
        if isinstance(piece, str)
        else piece
        for piece in pieces
    ]
