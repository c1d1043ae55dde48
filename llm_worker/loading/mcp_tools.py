"""Loads the tools of MCP servers that a run has chosen, as the servers have listed them. Reads the database."""

from collections.abc import Collection, Sequence

from chat.models import McpCredential, McpServer, McpToolList
from chat.protocol.mcp_names import is_server_tool
from chat.runs.mcp.servers import refresh_own, refresh_stale
from chat.runs.mcp.sign_ins import can_sign_in
from llm_worker.mcp.configuration import Configuration, ServerUnavailable
from llm_worker.mcp.server_endpoint import configuration_of
from llm_worker.tools.mcp_tool import McpTool
from llm_worker.tools.tool import Tool


def load_mcp_tools(choices: Collection[str], user_id: int) -> Sequence[Tool]:
    """Load the chosen tools, without those of servers that cannot be reached. Calls use this user's credentials.

    Expired lists are used once more, and requested again.
    """
    chosen = frozenset(filter(is_server_tool, choices))
    if not chosen:
        return ()
    servers = list(McpServer.objects.named_in(chosen).without_documents())
    held = McpCredential.objects.held_by(user_id).filter(server__in=servers) if servers else ()
    credentials = {credential.server_id: credential for credential in held}
    own = McpToolList.objects.by_server(user_id, servers)
    refresh_own(credentials, own)
    refresh_stale(chosen)
    listed = {pk: tool_list.tools for pk, tool_list in own.items()}
    tools: list[Tool] = []
    for server in servers:
        if configuration := _configuration_of(server, credentials.get(server.pk)):
            may_sign_in = can_sign_in(user_id, server)
            tools += [
                McpTool(
                    tool,
                    server.approval_rule,
                    configuration,
                    address=server.address_digest,
                    may_sign_in=may_sign_in,
                )
                for tool in server.chosen_tools(chosen, listed.get(server.pk))
            ]
    return tools


def _configuration_of(server: McpServer, credential: McpCredential | None) -> Configuration | None:
    """Return the configuration of a server; None if it cannot be reached."""
    try:
        return configuration_of(server, credential)
    except ServerUnavailable:
        return None
