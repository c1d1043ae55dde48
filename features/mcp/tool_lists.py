"""Has workers list the tools of MCP servers, and stores them with the word of staff about their hints."""

import logging
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from chat.infrastructure.background import call_after_commit
from chat.models import McpCredential, McpToolList
from chat.models.mcp_server import McpServer, McpStatus
from chat.protocol.tasks import DEFAULT_QUEUE
from chat.runs.task_queue import UNREACHABLE, send_message
from chat.transcript.tools import Tools, confirmed, held, unconfirmed

logger = logging.getLogger(__name__)

# server_id: str, credential_id: str (tried first) or "".
# Workers of other releases read the names of tasks: do not change them.
LIST_MCP_TOOLS: Final = "llm_worker.list_mcp_tools"

# Runs do not request a listing again within this time.
PATIENCE: Final = timedelta(seconds=30)


def request_listing(server: McpServer, credential: McpCredential | None = None) -> None:
    """Have a worker list the tools after the commit, with this credential first, unless the server is disabled."""
    if server.is_enabled:
        McpServer.objects.filter(pk=server.pk).update(requested_at=Now())
        call_after_commit(lambda: _send(server, str(credential.pk) if credential else ""))


def refresh_stale(choices: Iterable[str]) -> None:
    """Request new lists of the chosen servers whose list has expired or that were down. Runs do not wait for them."""
    moment = Now()
    stale = Q(expires_at__lt=moment) | ~Q(status=McpStatus.READY)
    waiting = Q(requested_at=None) | Q(requested_at__lt=moment - PATIENCE)
    for server in McpServer.objects.named_in(choices).without_documents().filter(stale, waiting):
        request_listing(server)


def refresh_own(credentials: Mapping[UUID, McpCredential], lists: Mapping[UUID, McpToolList]) -> None:
    """Request new lists of the servers to which a user has signed in, where there is none of this user or it has expired.
    credentials, lists: the user's, by server. Runs do not wait for them."""
    now = timezone.now()
    of_users = {pk: one for pk, one in credentials.items() if one.user_id}
    wanted = [pk for pk in of_users if pk not in lists or lists[pk].expires_at < now]
    waiting = Q(requested_at=None) | Q(requested_at__lt=now - PATIENCE)
    for server in McpServer.objects.without_documents().filter(waiting, pk__in=wanted) if wanted else ():
        request_listing(server, of_users[server.pk])


def _send(server: McpServer, credential_id: str) -> None:
    try:
        send_message(LIST_MCP_TOOLS, DEFAULT_QUEUE, server_id=str(server.pk), credential_id=credential_id)
    except UNREACHABLE as error:
        logger.warning("the tools of the MCP server %s are not listed: %s", server, error)


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
