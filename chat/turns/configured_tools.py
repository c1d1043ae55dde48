"""The tools that this instance is set up for. The page offers only these, and a question can force only these."""

from django.conf import settings

from chat.models import McpServer, McpToolList
from chat.protocol.mcp_names import all_of, is_server_tool, server_of
from chat.protocol.tasks import TOOL_NAMES


def configured_tools() -> frozenset[str]:
    """Return the names of the built-in tools that are set up. A test compares them with what the worker offers."""
    needed = {"web_search": bool(settings.WEB_SEARCH_URL), "open_url": settings.OPEN_URL}
    return frozenset(name for name in TOOL_NAMES if needed.get(name, True))


def choices_of_servers(user_id: int | None) -> list[str]:
    """Return the MCP choices for agents and chats: per server, all tools and each tool. Reads the database.
    user_id: who chooses; None: only what is listed to everybody is there."""
    servers = list(McpServer.objects.without_documents().filter(is_enabled=True))
    own = McpToolList.objects.tools_by_server(user_id, servers) if user_id else {}
    return [
        name
        for server in servers
        for name in (all_of(server.name), *(tool["name"] for tool in server.offered_to(own.get(server.pk))))
    ]


def is_configured(user_id: int, name: str) -> bool:
    """Return whether a built-in or MCP tool can be offered to this user now.
    Reads the database only for a tool of an MCP server."""
    if not is_server_tool(name):
        return name in configured_tools()
    servers = list(McpServer.objects.without_documents().filter(name=server_of(name)))
    own = McpToolList.objects.tools_by_server(user_id, servers)
    return any(tool["name"] == name for server in servers for tool in server.offered_to(own.get(server.pk)))
