"""The tools of this instance: the cards of those that are built in (settings.TOOLS), and those of MCP servers."""

from collections.abc import Iterable
from functools import cache
from importlib import import_module

from django.conf import settings
from django.utils.translation import gettext
from msgspec.structs import asdict

from chat.models import McpServer, McpToolList
from chat.presenters.json_values import JSONObject
from chat.presenters.tool_card import ToolCard
from chat.protocol.server_tool_names import all_of, is_server_tool, server_of


@cache
def tool_cards() -> dict[str, ToolCard]:
    """Return the card of each built-in tool by its name, in the order in which people are offered them."""
    cards: list[ToolCard] = [import_module(package).CARD for package in settings.TOOLS]
    return {card.name: card for card in cards}


def present_tool_cards() -> list[JSONObject]:
    """Return the cards in the language that is active."""
    return [_translate(asdict(card)) for card in tool_cards().values()]


def _translate(members: JSONObject) -> JSONObject:
    texts = {name: members[name] and gettext(members[name]) for name in ("label", "about", "several")}
    alternatives = {name: [gettext(text) for text in members[name]] for name in ("doing", "done", "failed")}
    return members | texts | alternatives


@cache
def choosable_tools() -> frozenset[str]:
    """Return the built-in tools that agents, chats and questions may name, also those that are not set up."""
    return frozenset(card.name for card in tool_cards().values() if card.is_choosable)


def configured_tools() -> frozenset[str]:
    """Return the choosable tools that are set up: the page offers only these, and a question can force only these."""
    return frozenset(name for name in choosable_tools() if tool_cards()[name].is_set_up())


def known_tools(names: Iterable[object]) -> list[str]:
    """Return those of the names, each once, that agents and chats may choose: any of an existing server too, since the tools
    that a server lists change. Reads the database only for names of servers' tools."""
    named = dict.fromkeys(name for name in names if isinstance(name, str))
    # Servers are few; the names may be as many as a body holds.
    is_any_of_servers = any(map(is_server_tool, named))
    servers = set(McpServer.objects.values_list("name", flat=True)) if is_any_of_servers else ()
    return [
        name
        for name in named
        if name in choosable_tools() or (is_server_tool(name) and server_of(name) in servers)
    ]


def choices_of_servers(user_id: int | None) -> list[str]:
    """Return the MCP choices for agents and chats: per server, all tools and each tool. Reads the database.
    user_id: who chooses; None: only what is listed to everybody is there."""
    servers = list(McpServer.objects.without_documents().filter(is_enabled=True))
    own = McpToolList.objects.tools_by_server(user_id, servers) if user_id else {}
    return [
        name
        for server in servers
        for name in (all_of(server.name), *(tool["name"] for tool in server.offered_to(own.get(server.pk))))
    ]


def is_configured(user_id: int, name: str) -> bool:
    """Return whether a built-in or MCP tool can be offered to this user now.
    Reads the database only for a tool of an MCP server."""
    if not is_server_tool(name):
        return name in configured_tools()
    servers = list(McpServer.objects.without_documents().filter(name=server_of(name)))
    own = McpToolList.objects.tools_by_server(user_id, servers)
    return any(tool["name"] == name for server in servers for tool in server.offered_to(own.get(server.pk)))
