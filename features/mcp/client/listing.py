"""Lists the tools of servers, and stores them, within bounds, in the rows that runs and people read."""

import asyncio
import logging
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from django.db.models import Q

from chat.models import McpCatalog, McpCredential, McpServer
from chat.models.mcp_server import McpStatus, Transport
from chat.protocol.server_tool_names import offered_names
from chat.protocol.strict_json import is_storable, measured_storable
from features.mcp.client.configuration import ServerUnavailable
from features.mcp.client.connections import Connections
from features.mcp.client.openapi.operation_calls import ApiSource, list_operations
from features.mcp.client.server_endpoint import configuration_of
from features.mcp.tool_lists import Listed, list_again, record_tools, speaks_for_all
from llm_worker.database import Database
from llm_worker.stream.sanitiser import clean

if TYPE_CHECKING:
    from mcp_types import Prompt, PromptArgument, Resource, Tool

    from features.mcp.client.listing_pages import Catalog, Listing


MAX_URI: Final = 2_000
MAX_NAME: Final = 200
MAX_DESCRIPTION: Final = 1_000
MAX_TOOL_DESCRIPTION: Final = 4_000
MAX_ARGUMENTS: Final = 20
MAX_SIZE: Final = 2**53


def describe_catalog(catalog: "Catalog") -> dict[str, list[dict[str, Any]]]:
    """Return the fields of McpCatalog: `resources` and `prompts`, each item once, in the server's order."""
    return {
        "resources": _once(map(_describe_resource, catalog.resources), "uri"),
        "prompts": _once(map(_describe_prompt, catalog.prompts), "name"),
    }


def _once(described: Iterable[dict[str, Any] | None], key: str) -> list[dict[str, Any]]:
    return list({item[key]: item for item in described if item}.values())


def _describe_resource(resource: "Resource") -> dict[str, Any] | None:
    uri, size = str(resource.uri), resource.size
    if not _is_kept(uri, MAX_URI):
        return None
    return {
        "uri": uri,
        "name": _shortened(resource.title or resource.name or uri, MAX_NAME),
        "description": _shortened(resource.description or "", MAX_DESCRIPTION),
        "content_type": _shortened(resource.mime_type or "", MAX_NAME),
        "size": size if size is not None and 0 <= size <= MAX_SIZE else None,
    }


def _describe_prompt(prompt: "Prompt") -> dict[str, Any] | None:
    arguments = prompt.arguments or []
    are_kept = len(arguments) <= MAX_ARGUMENTS and all(
        _is_kept(argument.name, MAX_NAME) for argument in arguments
    )
    if not (are_kept and _is_kept(prompt.name, MAX_NAME)):
        return None
    return {
        "name": prompt.name,
        "title": _shortened(prompt.title or prompt.name, MAX_NAME),
        "description": _shortened(prompt.description or "", MAX_DESCRIPTION),
        "arguments": list(map(_describe_argument, arguments)),
    }


def _describe_argument(argument: "PromptArgument") -> dict[str, Any]:
    return {
        "name": argument.name,
        "title": _shortened(argument.title or argument.name, MAX_NAME),
        "description": _shortened(argument.description or "", MAX_DESCRIPTION),
        "required": bool(argument.required),
    }


def _is_kept(name: str, longest: int) -> bool:
    """Return whether the server can be asked for this name: it is neither empty nor too long, and can be stored."""
    return 0 < len(name) <= longest and is_storable(name)


def _shortened(text: str, longest: int) -> str:
    return clean(text)[:longest]


# Characters of JSON, of one tool and, with their descriptions, of all. Each run that chooses the server reads them and
# sends them to its model.
MAX_SCHEMA: Final = 32_000
MAX_SCHEMAS: Final = 500_000


def stored_tools(
    server: str, tools: Sequence[dict[str, Any]], chosen: Collection[str] = ()
) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """Return tools as McpServer.tools has them, sorted by name; and the reasons of those that are left out, by name.

    tools: without their names for models.  chosen: the server's own names of the tools that come first where there is
    no room for all.
    """
    left_out = {
        clean(tool["tool"]): "its name has characters that cannot be stored"
        for tool in tools
        if clean(tool["tool"]) != tool["tool"]
    }
    tools = [tool for tool in tools if clean(tool["tool"]) == tool["tool"]]
    names = offered_names(server, (tool["tool"] for tool in tools))
    by_name = {names[tool["tool"]]: tool for tool in tools}
    stored, size = [], 0
    for name in sorted(by_name, key=lambda name: (by_name[name]["tool"] not in chosen, name)):
        tool = by_name[name]
        described = clean(tool["description"])[:MAX_TOOL_DESCRIPTION]
        length = _length(tool, described)
        if reason := _reason(tool, length, size):
            left_out[tool["tool"][:MAX_NAME]] = reason
        else:
            stored.append({**tool, "name": name, "description": described})
            size += length
    return sorted(stored, key=lambda tool: str(tool["name"])), left_out


def _reason(tool: dict[str, Any], length: int, size: int) -> str:
    """Return why a tool is left out; empty: it is not. size: of the tools that are stored before it."""
    if len(tool["tool"]) > MAX_NAME:
        return "its name is too long"
    if not length:
        return "its schema is too long, or cannot be stored"
    return "there is no room for its schema" if size + length > MAX_SCHEMAS else ""


def _length(tool: dict[str, Any], described: str) -> int:
    """Return the characters of the tool as JSON and of its description; 0: it is too long, or no JSON that can be stored."""
    parts = [tool["parameters"], tool.get("operation")]
    stored, length = measured_storable(parts) or (None, 0)
    return length + len(described) if stored == parts and length <= MAX_SCHEMA else 0


logger = logging.getLogger(__name__)

# How long a list is valid if its server does not say, and the bounds of what a server says.
DEFAULT_TTL: Final = timedelta(hours=1)
SHORTEST_TTL: Final = timedelta(minutes=1)
LONGEST_TTL: Final = timedelta(days=1)
MAX_PROBLEM: Final = 500
# Of credentials of users, whose sign-ins may have expired.
MAX_TRIALS: Final = 3
# Of a worker whose connections are all in use.
LOCAL_TRIALS: Final = 6
LOCAL_WAIT_S: Final = 10.0


class _Read(NamedTuple):
    """tools: for stored_tools.  ttl: how long they are valid.  left_out: by name, why tools are left out.
    credential: of the listing.
    """

    tools: list[dict[str, Any]]
    ttl: timedelta
    left_out: dict[str, str]
    credential: McpCredential | None = None


async def list_server(
    server_id: str, database: Database, connections: Connections, credential_id: str = ""
) -> None:
    """Ask the server for its tools, and store the list or the problem. `credential_id`: the credential to try first."""
    row = await database.call_with_retry(_load, server_id)
    if row is None:
        return
    try:
        tools, ttl, left_out, credential = await _list_patiently(row, database, connections, credential_id)
    except ServerUnavailable as unavailable:
        status = McpStatus.NEEDS_SIGN_IN if unavailable.needs_sign_in else McpStatus.DOWN
        problem = clean(f"{unavailable} {unavailable.detail}".strip())[:MAX_PROBLEM]
        # What this process lacks makes no server unusable whose list is known.
        listing: dict[str, Any] = (
            {"problem": problem} if unavailable.is_local else {"status": status, "problem": problem}
        )
        logger.warning("the MCP server %s is not listed: %s", row.name, problem)
        await database.call_with_retry(McpServer.objects.record_listing, row, **listing)
    else:
        stored, unstored = stored_tools(row.name, tools, row.enabled_tools)
        chosen = row.enabled_tools
        missing = {
            name: reason for name, reason in (left_out | unstored).items() if not chosen or name in chosen
        }
        problem = _described(missing)
        listed = Listed(stored, problem, datetime.now(UTC) + ttl, credential)
        await database.call_with_retry(record_tools, row, listed)
        logger.info("the MCP server %s has %d tools", row.name, len(tools))


async def _list_patiently(
    row: McpServer, database: Database, connections: Connections, credential_id: str
) -> _Read:
    """Return what _list_tools does; wait while this process has no connection for the server. Raises ServerUnavailable."""
    for _ in range(LOCAL_TRIALS):
        try:
            return await _list_tools(row, database, connections, credential_id)
        except ServerUnavailable as unavailable:
            if not unavailable.is_local:
                raise
        await asyncio.sleep(LOCAL_WAIT_S)
    return await _list_tools(row, database, connections, credential_id)


async def _list_tools(
    row: McpServer, database: Database, connections: Connections, credential_id: str
) -> _Read:
    """List the tools. Stores the catalog. Raises ServerUnavailable."""
    if row.transport == Transport.OPENAPI:
        source = ApiSource(row.url, row.document, row.base_url, frozenset(row.enabled_tools))
        read = await list_operations(configuration_of(row), source)
        return _Read(read.tools, DEFAULT_TTL, read.left_out)
    credentials = await database.call_with_retry(_load_credentials, row, credential_id)
    found, credential = await _list(row, credentials, connections)
    ttl = min(max(found.ttl or DEFAULT_TTL, SHORTEST_TTL), LONGEST_TTL)
    if found.catalog is not None:
        listed = describe_catalog(found.catalog)
        expires_at = datetime.now(UTC) + ttl
        await database.call_with_retry(
            McpCatalog.objects.record, row, credential, **listed, expires_at=expires_at
        )
    return _Read(list(map(describe, found.tools)), ttl, dict(found.left_out), credential)


def _described(left_out: dict[str, str]) -> str:
    """Return the sentence in which staff read what is left out; empty: nothing is."""
    if not left_out:
        return ""
    named = "; ".join(f"{clean(name)} ({reason})" for name, reason in left_out.items())
    text = f"Left out: {named}."
    return text if len(text) <= MAX_PROBLEM else f"{text[: MAX_PROBLEM - 1]}…"


async def _list(
    row: McpServer, credentials: Sequence[McpCredential | None], connections: Connections
) -> "tuple[Listing, McpCredential | None]":
    """Try the credentials in turn. Return the list, and its credential. Raises ServerUnavailable: that without any."""
    refused: ServerUnavailable | None = None
    for credential in credentials:
        try:
            return await connections.list_tools(configuration_of(row, credential)), credential
        except ServerUnavailable as unavailable:
            if not unavailable.needs_sign_in:
                raise
            refused = unavailable if refused is None or credential is None else refused
    raise refused or ServerUnavailable("The server was not asked.")


def list_changed_server(server_id: str) -> None:
    """Request new lists of the server's tools, in a database thread."""
    server = _load(server_id)
    if server is not None:
        list_again(server)


def _load(server_id: str) -> McpServer | None:
    return McpServer.objects.filter(pk=server_id, is_enabled=True).first()


def _load_credentials(server: McpServer, first: str) -> list[McpCredential | None]:
    """Load the credentials to try in turn: `first`, those whose lists speak for all, none (None), and the latest others,
    which show at least that the server can be reached.
    """
    found = McpCredential.objects.usable().filter(server=server).select_related("user")
    latest = list(found.order_by("-created_at")[:MAX_TRIALS])
    ours = found.filter(Q(user=None) | Q(user__is_staff=True)).order_by("-created_at")[:MAX_TRIALS]
    tried: list[McpCredential | None] = [*found.filter(pk=first)] if first else []
    for credential in [*filter(speaks_for_all, ours), None, *latest]:
        if credential not in tried:
            tried.append(credential)
    return tried


def describe(tool: "Tool") -> dict[str, Any]:
    """Describe a tool for stored_tools. Hints that a server leaves out have the specification's defaults."""
    hints = tool.annotations
    read_only = bool(hints and hints.read_only_hint)

    def hint(value: bool | None, default: bool) -> bool:
        return default if value is None else value

    return {
        "tool": tool.name,
        "description": tool.description or tool.title or tool.name,
        "parameters": tool.input_schema,
        "read_only": read_only,
        "destructive": not read_only and hint(hints.destructive_hint if hints else None, default=True),
        "idempotent": hint(hints.idempotent_hint if hints else None, default=False),
        "open_world": hint(hints.open_world_hint if hints else None, default=True),
    }
