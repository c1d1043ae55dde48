"""RunServers: the servers of one run, whose tools staff may disable while it is answered."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from chat.models import McpServer
from llm_worker.mcp.configuration import Answer, Caller, Configuration
from llm_worker.mcp.connections import Connections
from llm_worker.tools.mcp_tool import McpTool
from llm_worker.tools.tool import Tool, ToolFailed, ToolOutcomeUnknown


class RunServers:
    """Implements Servers. ids: of the servers whose tools the run was offered."""

    def __init__(self, connections: Connections, tools: Iterable[Tool]) -> None:
        self._connections = connections
        self._tools = [tool for tool in tools if isinstance(tool, McpTool)]
        self.ids = {tool.server[0] for tool in self._tools}
        self.disabled: frozenset[str] = frozenset()
        self._calls: dict[asyncio.Timeout, str] = {}

    def disable(self, rows: Mapping[str, McpServer]) -> None:
        """Note which tools staff have disabled by now, and end their running calls. rows: those of `ids` that exist."""
        self.disabled = frozenset(tool.name for tool in self._tools if not tool.is_enabled(rows))
        for call, name in self._calls.items():
            if name in self.disabled and not call.expired():
                call.reschedule(0)

    async def call(
        self, configuration: Configuration, tool: str, arguments: Mapping[str, Any], caller: Caller
    ) -> Answer:
        return await self._connections.call(configuration, tool, arguments, caller)

    @asynccontextmanager
    async def while_enabled(self, tool: str) -> AsyncIterator[None]:
        if tool in self.disabled:
            raise ToolFailed(f"{tool} was not called: it is not available any more.")
        call = asyncio.timeout(None)
        try:
            async with call:
                self._calls[call] = tool
                yield
        except TimeoutError:
            if call.expired():
                raise ToolOutcomeUnknown(f"{tool} is not available any more.") from None
            raise
        finally:
            self._calls.pop(call, None)
