"""Lists the tools of servers, and stores them in the rows that runs and people read."""

import asyncio
import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from django.db.models import Q

from chat.models import McpCatalog, McpCredential, McpServer
from chat.models.mcp_server import McpStatus, Transport
from features.mcp.client.configuration import ServerUnavailable
from features.mcp.client.connections import Connections
from features.mcp.client.openapi.operation_calls import ApiSource, list_operations
from features.mcp.client.server_endpoint import configuration_of
from features.mcp.client.stored_tools import describe_catalog, stored_tools
from features.mcp.tool_lists import Listed, list_again, record_tools, speaks_for_all
from llm_worker.database import Database
from llm_worker.stream.sanitiser import clean

if TYPE_CHECKING:
    from mcp_types import Tool

    from features.mcp.client.listing_pages import Listing

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
