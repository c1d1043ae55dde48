"""The tools that this instance is set up for. The page offers only these, and a question can force only these."""

from django.conf import settings

from chat.models.mcp_server import McpServer
from chat.protocol.mcp_names import all_of, is_server_tool, server_of
from chat.protocol.tasks import TOOL_NAMES


def configured_tools() -> frozenset[str]:
    """Return the names of the built-in tools that are set up. A test compares them with what the worker offers."""
    needed = {"web_search": bool(settings.WEB_SEARCH_URL), "open_url": settings.OPEN_URL}
    return frozenset(name for name in TOOL_NAMES if needed.get(name, True))


def choices_of_servers() -> list[str]:
    """Return the MCP choices for agents and chats: per server, all tools and each tool. Reads the database."""
    servers = McpServer.objects.without_documents().filter(is_enabled=True)
    return [
        name
        for server in servers
        for name in (all_of(server.name), *(tool["name"] for tool in server.offered_tools))
    ]


def is_configured(name: str) -> bool:
    """Return whether a built-in or MCP tool can be offered now. Reads the database only for a tool of an MCP server."""
    if not is_server_tool(name):
        return name in configured_tools()
    servers = McpServer.objects.without_documents().filter(name=server_of(name))
    return any(tool["name"] == name for server in servers for tool in server.offered_tools)
