"""Sessions that search knowledge bases, the model's calls of the tool, and what it read of them."""

from typing import Any

from knowledge.models import KnowledgeBase

TOOL = "knowledge_base_search"


def open_with(client: Any, *bases: KnowledgeBase, **fields: Any) -> str:
    """A new session with these bases; returns its id."""
    body = {"knowledge_bases": [str(base.pk) for base in bases], **fields}
    created = client.post("/api/sessions/", body, format="json")
    assert created.status_code == 201, created.json()
    return str(created.json()["id"])


def call(**arguments: Any) -> dict[str, Any]:
    """A call of the tool, as a step of the scripted upstream."""
    return {"call": {"name": TOOL, "arguments": arguments}}


def responses(request: Any) -> list[str]:
    """The responses of tools in a request, in order."""
    return [message["content"] for message in request.messages if message["role"] == "tool"]
