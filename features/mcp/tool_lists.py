"""Stores the tools that MCP servers list, and the word of staff about their hints (chat/transcript/tools.py)."""

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now

from chat.models import McpCredential, McpServer, McpToolList
from chat.models.mcp_server import McpStatus
from chat.transcript.tools import Tools, confirmed, held, unconfirmed
from features.mcp.listing_requests import request_listing


class Listed(NamedTuple):
    """What a server has listed. problem: for staff.  credential: of the listing; None: none."""

    tools: Tools
    problem: str
    expires_at: datetime
    credential: McpCredential | None


def speaks_for_all(credential: McpCredential | None) -> bool:
    """Return whether what is listed with this credential is shown to everybody: without one, with the one that all users
    share, and with that of one of the staff who may change servers.
    """
    user = credential.user if credential else None
    return user is None or (user.is_staff and user.has_perm("chat.change_mcpserver"))


def record_tools(server: McpServer, listed: Listed) -> None:
    """Store the list for the user whose credential it was made with, and for all if it speaks for all.
    Nothing is stored if the server was changed meanwhile."""
    user = listed.credential.user if listed.credential else None
    columns: dict[str, Any] = {"status": McpStatus.READY, "problem": listed.problem}
    with transaction.atomic():
        current = _lock(server).filter(revision=server.revision).first()
        if current is None:
            return
        of_all = current.tools if current.is_listed else None
        if user is not None:
            own = McpToolList.objects.tools_by_server(user, [current])
            tools = held(listed.tools, own.get(current.pk, of_all))
            McpToolList.objects.record(current, user, tools, listed.expires_at)
        if speaks_for_all(listed.credential):
            columns |= {"tools": held(listed.tools, of_all), "is_listed": True}
        # Where nothing is listed to all, another listing for all is worth no more than this one.
        if speaks_for_all(listed.credential) or not current.is_listed:
            columns["expires_at"] = listed.expires_at
        McpServer.objects.record_listing(current, **columns)


def confirm_and_list_again(server: McpServer) -> None:
    """Have all hints believed that the server claims, on the word of staff, and request new lists."""
    with transaction.atomic():
        rows: list[McpServer | McpToolList] = [*_lock(server), *server.tool_lists.select_for_update()]
        for row in rows:
            if unconfirmed(row.tools):
                type(row).objects.filter(pk=row.pk).update(tools=confirmed(row.tools))
    list_again(server)


def list_again(server: McpServer) -> None:
    """Request a new list for all, and those of the users as they are used next."""
    server.tool_lists.update(expires_at=Now())
    request_listing(server)


def unconfirmed_tools(servers: Collection[McpServer]) -> Mapping[UUID, set[str]]:
    """Return by server the own names of the tools that ask more than the server says, until staff confirm its hints."""
    names = {server.pk: unconfirmed(server.tools) for server in servers}
    for tool_list in McpToolList.objects.current().filter(server__in=servers):
        names[tool_list.server_id] |= unconfirmed(tool_list.tools)
    return names


def _lock(server: McpServer) -> Any:
    return McpServer.objects.without_documents().select_for_update(no_key=True).filter(pk=server.pk)
