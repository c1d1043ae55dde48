"""Lists the tools of servers, and stores them in the rows that runs and people read."""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from chat.models import McpCatalog, McpCredential, McpServer
from chat.models.mcp_server import McpStatus
from chat.protocol.mcp_names import offered_names
from chat.protocol.strict_json import measured_storable
from chat.runs.mcp.servers import request_listing
from llm_worker.database import Database
from llm_worker.mcp.catalog import describe_catalog
from llm_worker.mcp.configuration import ServerUnavailable
from llm_worker.mcp.connections import Connections
from llm_worker.mcp.rows import configuration_of
from llm_worker.stream.sanitiser import clean

if TYPE_CHECKING:
    from mcp_types import Tool

    from llm_worker.mcp.pages import Listing

logger = logging.getLogger(__name__)

# How long a list holds whose server says nothing about it, and the bounds of what one says.
DEFAULT_TTL: Final = timedelta(hours=1)
SHORTEST_TTL: Final = timedelta(minutes=1)
LONGEST_TTL: Final = timedelta(days=1)
MAX_DESCRIPTION: Final = 4_000
MAX_PROBLEM: Final = 500
MAX_NAME: Final = 200
# Of users whose sign-ins may have expired.
MAX_TRIALS: Final = 3
# Characters of JSON, of one tool and of all: each run that chooses the server reads them, and sends them to its model.
MAX_SCHEMA: Final = 32_000
MAX_SCHEMAS: Final = 500_000


async def list_server(
    server_id: str, database: Database, connections: Connections, credential_id: str = ""
) -> None:
    """Have the server list its tools, and store what it says, or why it says nothing. credential_id: the one that is tried first."""
    row = await database.call_with_retry(_load, server_id)
    if row is None:
        return
    try:
        credentials = await database.call_with_retry(_load_credentials, row, credential_id)
        found, credential = await _list(row, credentials, connections)
    except ServerUnavailable as unavailable:
        status = McpStatus.NEEDS_SIGN_IN if unavailable.needs_sign_in else McpStatus.DOWN
        problem = clean(f"{unavailable} {unavailable.detail}".strip())[:MAX_PROBLEM]
        listing: dict[str, Any] = {"status": status, "problem": problem}
        logger.warning("the MCP server %s is down: %s", row.name, problem)
        if unavailable.is_local:
            return
    else:
        ttl = min(max(found.ttl or DEFAULT_TTL, SHORTEST_TTL), LONGEST_TTL)
        listing = {
            "status": McpStatus.READY,
            "problem": "",
            "tools": _described(row.name, found.tools),
            "expires_at": datetime.now(UTC) + ttl,
        }
        logger.info("the MCP server %s has %d tools", row.name, len(found.tools))
        if found.catalog is not None:
            listed = describe_catalog(found.catalog)
            expires_at = listing["expires_at"]
            await database.call_with_retry(
                McpCatalog.objects.record, row, credential, **listed, expires_at=expires_at
            )
    await database.call_with_retry(McpServer.objects.record_listing, row, **listing)


async def _list(
    row: McpServer, credentials: Sequence[McpCredential], connections: Connections
) -> "tuple[Listing, McpCredential | None]":
    """What was listed, and with which credential: they are tried in turn, and then none. Raises ServerUnavailable."""
    for credential in credentials:
        try:
            return await connections.list_tools(configuration_of(row, credential)), credential
        except ServerUnavailable as unavailable:
            if not unavailable.needs_sign_in:
                raise
    return await connections.list_tools(configuration_of(row)), None


def list_again(server_id: str) -> None:
    """In a database thread."""
    server = _load(server_id)
    if server is not None:
        request_listing(server)


def _load(server_id: str) -> McpServer | None:
    return McpServer.objects.filter(pk=server_id, is_enabled=True).first()


def _load_credentials(server: McpServer, first: str) -> list[McpCredential]:
    """That one, and then the latest: servers list the same tools to all who sign in, as they list the same to all where nobody does."""
    found = McpCredential.objects.usable().filter(server=server)
    latest = list(found.order_by("-created_at")[:MAX_TRIALS])
    asked = list(found.filter(pk=first)) if first else []
    return [*asked, *(credential for credential in latest if credential not in asked)]


def _described(server: str, tools: "list[Tool]") -> list[dict[str, Any]]:
    """As McpServer.tools, sorted by name."""
    tools = [tool for tool in tools if clean(tool.name) == tool.name]
    names = offered_names(server, (tool.name for tool in tools))
    by_name = {names[tool.name]: tool for tool in tools}
    described, size = [], 0
    for name in sorted(by_name):
        tool = by_name[name]
        length = _schema_length(tool)
        if length and len(tool.name) <= MAX_NAME and size + length <= MAX_SCHEMAS:
            described.append(_describe(name, tool))
            size += length
    return described


def _schema_length(tool: "Tool") -> int:
    """Characters of the schema as JSON; 0: it is too long, or no JSON that can be stored."""
    stored, length = measured_storable(tool.input_schema) or (None, 0)
    return length if stored == tool.input_schema and length <= MAX_SCHEMA else 0


def _describe(name: str, tool: "Tool") -> dict[str, Any]:
    """Hints that a server leaves out have the specification's defaults."""
    hints = tool.annotations
    read_only = bool(hints and hints.read_only_hint)

    def hint(value: bool | None, default: bool) -> bool:
        return default if value is None else value

    return {
        "name": name,
        "tool": tool.name,
        "description": clean(tool.description or tool.title or tool.name)[:MAX_DESCRIPTION],
        "parameters": tool.input_schema,
        "read_only": read_only,
        "destructive": not read_only and hint(hints.destructive_hint if hints else None, default=True),
        "idempotent": hint(hints.idempotent_hint if hints else None, default=False),
        "open_world": hint(hints.open_world_hint if hints else None, default=True),
    }
