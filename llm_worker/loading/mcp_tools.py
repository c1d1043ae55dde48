"""Loads the tools of MCP servers that a run has chosen, as the servers have listed them. Reads the database."""

from collections.abc import Collection, Sequence

from chat.models import McpServer
from chat.protocol.mcp_names import is_server_tool
from chat.runs.mcp.servers import refresh_stale
from llm_worker.mcp.configuration import ServerUnavailable
from llm_worker.mcp.rows import configuration_of
from llm_worker.tools.mcp_tool import McpTool
from llm_worker.tools.tool import Tool


def load_mcp_tools(choices: Collection[str]) -> Sequence[Tool]:
    """Without those of servers that are down. Lists that have expired are used once more, and requested anew."""
    chosen = frozenset(filter(is_server_tool, choices))
    if not chosen:
        return ()
    refresh_stale(chosen)
    return [tool for server in McpServer.objects.named_in(chosen) for tool in _tools_of(server, chosen)]


def _tools_of(server: McpServer, chosen: frozenset[str]) -> Sequence[Tool]:
    try:
        configuration = configuration_of(server)
    except ServerUnavailable:
        return ()
    return [McpTool(tool, server.approval_rule, configuration) for tool in server.chosen_tools(chosen)]
