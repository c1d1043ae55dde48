"""McpWorker: the tools of MCP servers that runs are offered, and the connections of a worker process to the servers."""

import asyncio
from collections.abc import Collection, Sequence

from chat.models import McpCredential, McpServer, McpToolList
from chat.protocol.server_tool_names import is_server_tool
from features.mcp.client.configuration import Configuration, ServerUnavailable
from features.mcp.client.connections import Connections
from features.mcp.client.credentials import Credentials
from features.mcp.client.listing import list_changed_server
from features.mcp.client.mcp_tool import McpTool
from features.mcp.client.server_endpoint import configuration_of
from features.mcp.sign_ins import can_sign_in
from features.mcp.tool_lists import refresh_own, refresh_stale
from llm_worker.database import Database
from llm_worker.tools.tool import Tool
from llm_worker.worker_part import WorkerPart


class McpWorker(Connections, WorkerPart):
    """The connections of a worker process. Their tokens are in the database, where changed lists are requested, too."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._credentials = Credentials(database)
        self._requests_of_lists: set[asyncio.Task[None]] = set()
        super().__init__(self._list_again, self._credentials)

    @staticmethod
    def load_tools(choices: Collection[str], user_id: int) -> Sequence[Tool]:
        """Load the chosen tools, without those of servers that cannot be reached. Calls use this user's credentials.

        Expired lists are used once more, and requested again.
        """
        chosen = frozenset(filter(is_server_tool, choices))
        if not chosen:
            return ()
        servers = list(McpServer.objects.named_in(chosen).without_documents())
        own_credentials = McpCredential.objects.held_by(user_id).filter(server__in=servers) if servers else ()
        credentials = {credential.server_id: credential for credential in own_credentials}
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

    async def disable_tools(self, tools: Sequence[Tool]) -> None:
        in_use = [tool for tool in tools if isinstance(tool, McpTool)]
        if ids := {tool.server_id for tool in in_use}:
            rows = await self._database.extend_leases(McpServer.objects.switches, ids)
            for tool in in_use:
                tool.follow_switches(rows)

    async def close(self) -> None:
        """Close the connections, and wait until the tokens that are being renewed are stored."""
        await super().close()
        await self._credentials.close()

    def _list_again(self, server_id: str) -> None:
        """Request a new list of the tools of a server, which says that they changed."""
        task = asyncio.create_task(self._database.call(list_changed_server, server_id))
        self._requests_of_lists.add(task)
        task.add_done_callback(self._requests_of_lists.discard)


def _configuration_of(server: McpServer, credential: McpCredential | None) -> Configuration | None:
    """Return the configuration of a server; None if it cannot be reached."""
    try:
        return configuration_of(server, credential)
    except ServerUnavailable:
        return None
