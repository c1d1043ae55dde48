"""MCP servers: what everybody sees, and what staff may edit."""

from chat.models.mcp_server import McpServer
from chat.presenters.json_values import JSONObject, isoformat_or_none


def present_mcp_server(server: McpServer, sign_in_state: str, *, for_staff: bool) -> JSONObject:
    """sign_in_state: of who asks (chat/runs/mcp/sign_ins.py). Values of environment variables are in no row and in no answer."""
    shown: JSONObject = {
        "id": str(server.pk),
        "name": server.name,
        "status": server.status,
        "sign_in_state": sign_in_state,
        "tools": [
            {
                "name": tool["name"],
                "description": tool["description"],
                "read_only": tool["read_only"],
            }
            for tool in server.offered_tools
        ],
    }
    if for_staff:
        shown |= server.edited
        shown |= {
            "problem": server.problem,
            "all_tools": [tool["tool"] for tool in server.tools],
            "listed_at": isoformat_or_none(server.listed_at),
        }
    return shown
