"""Validates the row of an MCP server: staff may add servers, but not start any program or read secrets of Turnwire.

Raises ApiError with the field.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from django.conf import settings

from chat.models.mcp_server import MAX_DOCUMENT_CHARACTERS, McpServer, Transport
from chat.models.model_server_rules import is_for_rows
from chat.protocol.errors import ApiError
from chat.protocol.server_tool_names import is_server_name
from knowledge.fetching.target import UrlRefused, parse_target

_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# RFC 9110, section 5.6.2: token.
_HEADER: Final = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_PARAMETER: Final = re.compile(r"[^\x00-\x20\x7f]{1,100}")
# Headers that the protocol and the connection set themselves.
_OWN_HEADERS: Final = frozenset(
    {
        "accept",
        "accept-encoding",
        "connection",
        "content-length",
        "content-type",
        "host",
        "transfer-encoding",
    }
)
# Of the client that staff have registered with an issuer.
_CLIENT: Final = ("oauth_issuer", "oauth_client_id", "oauth_client_secret")
MAX_ENTRIES: Final = 50


def check(fields: Mapping[str, Any], *, is_demo_command: bool = False) -> None:
    """Check the fields of the whole row.
    Raises ApiError. is_demo_command: the command is that of the trial's server."""
    if not is_server_name(fields["name"]):
        raise ApiError(
            "invalid_value", "A name has letters, digits, - and _, but no two _ in a row.", field="name"
        )
    if fields["transport"] == Transport.STDIO:
        _check_command(fields["command"], is_demo_command=is_demo_command)
        _refuse(fields, "url", "headers", "query", "document", "base_url", "assumes_pkce", *_CLIENT)
    elif fields["transport"] == Transport.HTTP:
        _check_url("url", fields["url"])
        _check_client(fields)
        _refuse(fields, "command", "env", "query", "document", "base_url")
    else:
        _check_api(fields)
        _refuse(fields, "command", "env", "assumes_pkce", *_CLIENT)
    if not _are_texts(fields["enabled_tools"]):
        raise ApiError("invalid_value", "Names of tools, as strings.", field="enabled_tools")
    _check_variables("env", fields["env"], _VARIABLE)
    _check_variables("headers", fields["headers"], _HEADER)
    _check_variables("query", fields["query"], _PARAMETER)


def _check_command(command: Any, *, is_demo_command: bool) -> None:
    if not (_are_texts(command) and command):
        raise ApiError("invalid_value", "A program and its arguments, as strings.", field="command")
    if any("\0" in part for part in command):
        raise ApiError("invalid_characters", field="command")
    if not (is_demo_command or is_allowed(command[0])):
        raise ApiError("mcp_command_refused", field="command")


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def is_allowed(program: str) -> bool:
    return program in settings.MCP_COMMANDS


def _check_api(fields: Mapping[str, Any]) -> None:
    if bool(fields["url"]) == bool(fields["document"]):
        raise ApiError("invalid_value", "The url of a document, or the document, not both.", field="url")
    if len(fields["document"]) > MAX_DOCUMENT_CHARACTERS:
        raise ApiError("invalid_value", "The document is too long.", field="document")
    for name in ("url", "base_url"):
        if fields[name]:
            _check_url(name, fields[name])


def _check_client(fields: Mapping[str, Any]) -> None:
    issuer, client_id, variable = (fields[name] for name in _CLIENT)
    if bool(issuer) != bool(client_id) or (variable and not client_id):
        field = "oauth_issuer" if client_id else "oauth_client_id"
        raise ApiError("invalid_value", "A client has an issuer and an id.", field=field)
    if issuer:
        _check_url("oauth_issuer", issuer, what="issuer")
    if variable:
        _check_variable("oauth_client_secret", variable)


def _check_url(field: str, url: str, what: str = "MCP server") -> None:
    try:
        parse_target(url, settings.URL_ALLOWED_HOSTS)
    except UrlRefused as refused:
        raise ApiError("mcp_url_refused", f"No {what} is reached there ({refused}).", field=field) from None


def _refuse(fields: Mapping[str, Any], *names: str) -> None:
    for name in names:
        if fields[name]:
            raise ApiError("invalid_value", f"Not with this transport: {name}.", field=name)


def _check_variables(field: str, given: Any, pattern: re.Pattern[str]) -> None:
    if not isinstance(given, dict) or len(given) > MAX_ENTRIES:
        raise ApiError("invalid_value", field=field)
    for name, variable in given.items():
        if not pattern.fullmatch(name) or (field == "headers" and name.lower() in _OWN_HEADERS):
            raise ApiError("invalid_value", f"Not accepted: {name[:100]}.", field=field)
        _check_variable(field, variable)


def _check_variable(field: str, variable: Any) -> None:
    if not (isinstance(variable, str) and _VARIABLE.fullmatch(variable)):
        raise ApiError(
            "invalid_value", "The names of environment variables, never their values.", field=field
        )
    if variable_problem(variable):
        raise ApiError("mcp_variable_refused", variable_problem(variable), field=field)


def variable_problem(variable: str) -> str:
    """Return why no server is given this environment variable, and what to do; empty if servers may be given it."""
    prefix = settings.MCP_VARIABLE_PREFIX
    if is_for_rows(variable, prefix):
        return ""
    return (
        f"{variable[:100]} is not given to MCP servers, only variables that begin with {prefix} are."
        " Give the workers its value in such a variable, and name that one."
    )


def named_variables(server: McpServer) -> list[str]:
    """Return the variables that the row names."""
    secret = [server.oauth_client_secret] if server.oauth_client_secret else []
    return [*server.env.values(), *server.headers.values(), *server.query.values(), *secret]
