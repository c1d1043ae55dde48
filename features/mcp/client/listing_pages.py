"""Reads what a server lists, page by page: tools, resources, prompts. Uses the SDK."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from typing import Any, Final, NamedTuple

from mcp import Client, MCPError
from mcp_types import METHOD_NOT_FOUND, Prompt, Resource, Tool

from features.mcp.client.result_forms import LISTED_TOOLS

# Of tools, of resources and of prompts.
MAX_LISTED: Final = 500
MAX_PAGES: Final = 50


class Catalog(NamedTuple):
    resources: list[Resource]
    prompts: list[Prompt]


class Listing(NamedTuple):
    """The lists of a server. ttl: how long the list of tools is valid; None: the server does not say.
    left_out: by name of a tool that is not offered, the reason.  catalog: None: it could not be listed.
    """

    tools: list[Tool]
    ttl: timedelta | None
    left_out: Mapping[str, str] = {}
    catalog: Catalog | None = None


async def list_tools(client: Client) -> Listing:
    """List the tools of a server, without its catalog. Raises MCPError, and the errors of the transports."""
    reasons: dict[str, str] = {}

    async def list_page(cursor: str | None) -> Any:
        page = await client.list_tools(cursor=cursor)
        reasons.update((page.meta or {}).get(LISTED_TOOLS, {}))
        return page

    tools, ttl_ms = await _list(list_page, "tools")
    offered = {tool.name for tool in tools}
    # The SDK drops tools of whose arguments it cannot make headers (revision 2026-07-28, `x-mcp-header`).
    left_out = {
        name: reason or "it is one too many, or its x-mcp-header is invalid"
        for name, reason in reasons.items()
        if name not in offered
    }
    return Listing(tools, timedelta(milliseconds=ttl_ms) if ttl_ms else None, left_out)


async def list_catalog(client: Client) -> Catalog:
    """List the resources and prompts of a server. Raises MCPError, and the errors of the transports."""
    capabilities = client.server_capabilities
    resources = await _list_if_there(client.list_resources, "resources") if capabilities.resources else []
    prompts = await _list_if_there(client.list_prompts, "prompts") if capabilities.prompts else []
    return Catalog(resources, prompts)


async def _list_if_there(list_page: Callable[..., Awaitable[Any]], member: str) -> list[Any]:
    try:
        return (await _list(list_page, member))[0]
    except MCPError as error:
        if error.error.code == METHOD_NOT_FOUND:
            return []  # some servers announce what they do not have
        raise


async def _list(list_page: Callable[..., Awaitable[Any]], member: str) -> tuple[list[Any], int]:
    """Return the items of all pages, and the time to live of the last page that states one, in milliseconds; else 0."""
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
