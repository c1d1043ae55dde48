"""Which tools this instance is set up for. The page offers no others, and no question can force another one."""

from django.conf import settings

from chat.models.mcp_server import McpServer
from chat.protocol.mcp_names import all_of, is_server_tool, server_of
from chat.protocol.tasks import TOOL_NAMES


def configured_tools() -> frozenset[str]:
    """Those of our own, as they say themselves in the worker; a test compares the two."""
    needed = {"web_search": bool(settings.WEB_SEARCH_URL), "open_url": settings.OPEN_URL}
    return frozenset(name for name in TOOL_NAMES if needed.get(name, True))


def choices_of_servers() -> list[str]:
    """What agents and chats may choose of MCP servers: of each all of its tools, and single ones. Reads the database."""
    servers = McpServer.objects.without_documents().filter(is_enabled=True)
    return [
        name
        for server in servers
        for name in (all_of(server.name), *(tool["name"] for tool in server.offered_tools))
    ]


def is_configured(name: str) -> bool:
    """Whether this tool, of our own or of an MCP server, can be offered now. Reads the database for one of a server."""
    if not is_server_tool(name):
        return name in configured_tools()
    servers = McpServer.objects.without_documents().filter(name=server_of(name))
    return any(tool["name"] == name for server in servers for tool in server.offered_tools)
