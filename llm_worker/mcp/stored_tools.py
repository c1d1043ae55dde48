"""The tools of a server as its row stores them: named for models, and within bounds."""

from collections.abc import Collection, Sequence
from typing import Any, Final

from chat.protocol.mcp_names import offered_names
from chat.protocol.strict_json import measured_storable
from llm_worker.stream.sanitiser import clean

MAX_DESCRIPTION: Final = 4_000
MAX_NAME: Final = 200
# Characters of JSON, of one tool and of all. Each run that chooses the server reads them and sends them to its model.
MAX_SCHEMA: Final = 32_000
MAX_SCHEMAS: Final = 500_000


def stored_tools(
    server: str, tools: Sequence[dict[str, Any]], chosen: Collection[str] = ()
) -> list[dict[str, Any]]:
    """Return tools as McpServer.tools has them, sorted by name. Tools beyond the bounds are left out.

    tools: without their names for models.  chosen: the server's own names of the tools that come first where there is
    no room for all.
    """
    tools = [tool for tool in tools if clean(tool["tool"]) == tool["tool"]]
    names = offered_names(server, (tool["tool"] for tool in tools))
    by_name = {names[tool["tool"]]: tool for tool in tools}
    stored, size = [], 0
    for name in sorted(by_name, key=lambda name: (by_name[name]["tool"] not in chosen, name)):
        tool = by_name[name]
        length = _length(tool)
        if length and len(tool["tool"]) <= MAX_NAME and size + length <= MAX_SCHEMAS:
            described = clean(tool["description"])[:MAX_DESCRIPTION]
            stored.append({**tool, "name": name, "description": described})
            size += length
    return sorted(stored, key=lambda tool: str(tool["name"]))


def _length(tool: dict[str, Any]) -> int:
    """Return the number of characters of the tool as JSON; 0: it is too long, or no JSON that can be stored."""
    kept = [tool["parameters"], tool.get("operation")]
    stored, length = measured_storable(kept) or (None, 0)
    return length if stored == kept and length <= MAX_SCHEMA else 0
