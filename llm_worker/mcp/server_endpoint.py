"""Reads how a server is reached from its row."""

from chat.models import McpCredential, McpServer
from chat.models.mcp_server import Transport
from chat.runs.mcp import server_rules
from llm_worker.mcp.configuration import Configuration, ServerUnavailable


def configuration_of(server: McpServer, credential: McpCredential | None = None) -> Configuration:
    """Return the configuration of a server. `credential`: what a user has signed in with; None: nothing.
    Raises ServerUnavailable for a program that MCP_COMMANDS does not name any more, and for variables that Turnwire
    itself uses by now.
    """
    is_stdio = server.transport == Transport.STDIO
    if is_stdio and not (server.is_demo or server_rules.is_allowed(server.command[0])):
        detail = f"MCP_COMMANDS does not name {server.command[0]}."
        raise ServerUnavailable("The server is not set up.", detail)
    variables = [*server.env.values(), *server.headers.values(), *server.query.values()]
    if refused := next(filter(server_rules.is_own_variable, variables), ""):
        raise ServerUnavailable("The server is not set up.", f"{refused} is not given to MCP servers.")
    is_api = server.transport == Transport.OPENAPI
    return Configuration(
        server=str(server.pk),
        revision=str(server.revision),
        name=server.name,
        command=tuple(server.command) if is_stdio else (),
        url="" if is_stdio else (is_api and server.base_url) or server.url,
        env=tuple(server.env.items()),
        headers=tuple(server.headers.items()),
        query=tuple(server.query.items()),
        credential=str(credential.pk) if credential else "",
    )
