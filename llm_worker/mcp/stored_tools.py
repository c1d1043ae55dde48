"""The tools of a server as its row stores them: named for models, and within bounds."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from chat.protocol.mcp_names import offered_names
from chat.protocol.strict_json import measured_storable
from llm_worker.stream.sanitiser import clean

MAX_DESCRIPTION: Final = 4_000
MAX_NAME: Final = 200
# Characters of JSON, of one tool and, with their descriptions, of all. Each run that chooses the server reads them and
# sends them to its model.
MAX_SCHEMA: Final = 32_000
MAX_SCHEMAS: Final = 500_000


def stored_tools(
    server: str, tools: Sequence[dict[str, Any]], chosen: Collection[str] = ()
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return tools as McpServer.tools has them, sorted by name; and the reasons of those that are left out, by name.

    tools: without their names for models.  chosen: the server's own names of the tools that come first where there is
    no room for all.
    """
    left_out = {
        clean(tool["tool"]): "its name has characters that cannot be stored"
        for tool in tools
        if clean(tool["tool"]) != tool["tool"]
    }
    tools = [tool for tool in tools if clean(tool["tool"]) == tool["tool"]]
    names = offered_names(server, (tool["tool"] for tool in tools))
    by_name = {names[tool["tool"]]: tool for tool in tools}
    stored, size = [], 0
    for name in sorted(by_name, key=lambda name: (by_name[name]["tool"] not in chosen, name)):
        tool = by_name[name]
        described = clean(tool["description"])[:MAX_DESCRIPTION]
        length = _length(tool, described)
        if reason := _reason(tool, length, size):
            left_out[tool["tool"][:MAX_NAME]] = reason
        else:
            stored.append({**tool, "name": name, "description": described})
            size += length
    return sorted(stored, key=lambda tool: str(tool["name"])), left_out


def _reason(tool: dict[str, Any], length: int, size: int) -> str:
    """Return why a tool is left out; empty: it is not. size: of the tools that are stored before it."""
    if len(tool["tool"]) > MAX_NAME:
        return "its name is too long"
    if not length:
        return "its schema is too long, or cannot be stored"
    return "there is no room for its schema" if size + length > MAX_SCHEMAS else ""


def _length(tool: dict[str, Any], described: str) -> int:
    """Return the characters of the tool as JSON and of its description; 0: it is too long, or no JSON that can be stored."""
    kept = [tool["parameters"], tool.get("operation")]
    stored, length = measured_storable(kept) or (None, 0)
    return length + len(described) if stored == kept and length <= MAX_SCHEMA else 0
