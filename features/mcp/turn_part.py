"""Offers runs the tools of MCP servers; workers alone load the client."""

from typing import Any

from chat.runs.turn_parts import TurnPart, register


class McpPart(TurnPart):
    def worker_part(self) -> Any:
        from features.mcp.worker_part import McpWorker

        return McpWorker


register(McpPart())
