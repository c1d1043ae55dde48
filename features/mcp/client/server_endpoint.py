"""Reads from the row of a server how it is reached, and as which client users sign in to it."""

from uuid import UUID

from chat.infrastructure import encryption
from chat.models import McpCredential, McpServer
from chat.models.mcp_server import Transport
from features.mcp import server_rules
from features.mcp.client.configuration import Configuration, RegisteredClient, ServerUnavailable, value_of


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
    _refuse_own(variables)
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
        sends_structured=server.sends_structured,
    )


def registered_client_of(server_id: UUID) -> RegisteredClient | None:
    """Load the client that staff have registered, with its secret; None: there is none. Raises ServerUnavailable."""
    columns = ("oauth_issuer", "oauth_client_id", "oauth_client_secret")
    found = McpServer.objects.exclude(oauth_client_id="").filter(pk=server_id).values_list(*columns).first()
    if found is None:
        return None
    issuer, client_id, variable = found
    if not variable:
        return RegisteredClient(issuer, client_id)
    _refuse_own([variable])
    secret = value_of(variable)
    encryption.remember(secret)
    return RegisteredClient(issuer, client_id, secret)


def _refuse_own(variables: list[str]) -> None:
    if problem := next(filter(None, map(server_rules.variable_problem, variables)), ""):
        raise ServerUnavailable("The server is not set up.", problem)
