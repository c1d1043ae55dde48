"""Has workers list the tools of MCP servers (client/listing.py)."""

import logging
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from chat.infrastructure.background import call_after_commit
from chat.models import McpCredential, McpToolList
from chat.models.mcp_server import McpServer, McpStatus
from chat.protocol.tasks import DEFAULT_QUEUE
from chat.runs.task_queue import UNREACHABLE, send_message

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
