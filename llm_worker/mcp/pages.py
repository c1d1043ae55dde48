"""Reads what a server lists, page by page: tools, resources, prompts. Uses the SDK."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final, NamedTuple

from mcp import Client, MCPError
from mcp_types import METHOD_NOT_FOUND, Prompt, Resource, Tool

# Of each kind.
MAX_LISTED: Final = 500
MAX_PAGES: Final = 50


class Catalog(NamedTuple):
    resources: list[Resource]
    prompts: list[Prompt]


class Listing(NamedTuple):
    """ttl: how long the server says that it holds; None: it does not say.  catalog: None: it could not be listed."""

    tools: list[Tool]
    ttl: timedelta | None
    catalog: Catalog | None = None


async def list_tools(client: Client) -> Listing:
    """Without the catalog. Raises MCPError and what the transports raise."""
    tools, ttl_ms = await _list(client.list_tools, "tools")
    return Listing(tools, timedelta(milliseconds=ttl_ms) if ttl_ms else None)


async def list_catalog(client: Client) -> Catalog:
    """Raises MCPError and what the transports raise."""
    capabilities = client.server_capabilities
    resources = await _list_if_there(client.list_resources, "resources") if capabilities.resources else []
    prompts = await _list_if_there(client.list_prompts, "prompts") if capabilities.prompts else []
    return Catalog(resources, prompts)


async def _list_if_there(list_page: Callable[..., Awaitable[Any]], member: str) -> list[Any]:
    try:
        return (await _list(list_page, member))[0]
    except MCPError as error:
        if error.error.code == METHOD_NOT_FOUND:
            return []  # some say that they have what they have not
        raise


async def _list(list_page: Callable[..., Awaitable[Any]], member: str) -> tuple[list[Any], int]:
    """And for how many milliseconds the last page that says so holds; 0: none does."""
    found: list[Any] = []
    cursor, ttl_ms = None, 0
    for _ in range(MAX_PAGES):
        page = await list_page(cursor=cursor)
        found += getattr(page, member)
        ttl_ms = page.ttl_ms or ttl_ms
        cursor = page.next_cursor
        if not cursor or len(found) >= MAX_LISTED:
            break
    return found[:MAX_LISTED], ttl_ms
