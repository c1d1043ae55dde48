"""Reads how a server is reached from its row."""

from chat.models import McpServer
from chat.models.mcp_server import Transport
from llm_worker.mcp.configuration import Configuration


def configuration_of(server: McpServer) -> Configuration:
    is_stdio = server.transport == Transport.STDIO
    return Configuration(
        server=str(server.pk),
        revision=str(server.revision),
        name=server.name,
        command=tuple(server.command) if is_stdio else (),
        url="" if is_stdio else server.url,
        env=tuple(server.env.items()),
        headers=tuple(server.headers.items()),
    )
