"""What the tests of tools talk about: pages that a search finds, calls that models make, what they are told."""

import json
from typing import Any

MOON = {"title": "Moon", "url": "https://moon.example/", "content": "It pulls."}
SUN = {"title": "Sun", "url": "https://sun.example/", "content": "It pulls less."}
SEA = {"title": "Sea", "url": "https://sea.example/", "content": "It is pulled."}
RESEARCH = {"call": {"name": "research_agent", "arguments": {"question": "Who pulls the sea?"}}}


def search(query: str) -> dict[str, Any]:
    """A model's call of web_search, as a step of the scripted upstream."""
    return {"call": {"name": "web_search", "arguments": {"query": query}}}


def responses(request: Any) -> list[str]:
    """What a request tells of its tools."""
    return [message["content"] for message in request.messages if message["role"] == "tool"]


def numbers(response: str) -> list[tuple[int, str]]:
    """Of the documents in a response: number and title."""
    found = json.loads(response.partition("\n")[2])["documents"]
    return [(one["document"], one["title"]) for one in found]


def spelled(
    name: str, *pieces: str | dict[str, Any], call_id: str = "call_1", index: int = 0
) -> list[dict[str, Any]]:
    """The steps of a call whose arguments come in these pieces; steps among them stand where they stand."""
    begin = {"index": index, "id": call_id, "type": "function", "function": {"name": name, "arguments": ""}}
    return [{"delta": {"tool_calls": [begin]}}] + [
        {"delta": {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}}
        if isinstance(piece, str)
        else piece
        for piece in pieces
    ]
