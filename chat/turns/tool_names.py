"""Members of requests that name tools."""

from typing import Annotated, Any, Final

from msgspec import Meta

from chat.presenters.tools import choosable_tools, known_tools
from chat.protocol import server_tool_names as names
from chat.protocol.body import rule
from chat.protocol.errors import ApiError

TOOLS: Final = sorted(choosable_tools())
# One of our tools, or one of an MCP server; a choice may also be all tools of a server.
_TOOL: Final[dict[str, Any]] = {
    "anyOf": [{"enum": TOOLS}, {"pattern": names.CHOICE, "maxLength": names.MAX_TOOL_NAME}]
}


def _check_tool(name: str) -> str:
    if name not in TOOLS and not names.is_server_tool(name):
        raise ApiError("tool_unknown")
    return name


def _check_tools(tools: list[str]) -> list[str]:
    known = known_tools(tools)
    if len(known) < len(set(tools)):
        raise ApiError("tool_unknown")
    return known


# The name of a tool. Whether the chat has the tool is checked when it is used.
Tool = Annotated[str, rule(_check_tool, _TOOL)]
# Names of tools that are known here; a repeated name counts once.
Tools = Annotated[list[Annotated[str, Meta(extra_json_schema=_TOOL)]], rule(_check_tools)]
