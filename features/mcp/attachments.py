"""Use cases of the resources of MCP servers, which users attach, and of their prompts, which users fill in.

Workers make the requests to the servers (features/mcp/client/attachment_requests.py).
"""

import logging
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from django.contrib.auth.models import User
from django.utils import timezone

from chat.infrastructure.background import call_after_commit
from chat.models import McpCatalog, McpCredential, McpRequest, McpServer
from chat.models.mcp_attachments import McpRequestKind
from chat.models.mcp_server import McpStatus
from chat.protocol.errors import ApiError
from chat.protocol.tasks import DEFAULT_QUEUE
from chat.runs.task_queue import UNREACHABLE, send_message
from features.mcp.sign_ins import NEEDS_SIGN_IN, sign_in_states
from features.mcp.tool_lists import PATIENCE, request_listing

logger = logging.getLogger(__name__)

# request_id: str. Workers of other releases read the name: do not change it.
ANSWER_MCP_REQUEST: Final = "llm_worker.answer_mcp_request"
MAX_ARGUMENT_CHARACTERS: Final = 20_000


class Attachable(NamedTuple):
    """A server whose resources and prompts a user may use.
    catalog: None if the server is down, or a sign-in is needed first."""

    server: McpServer
    sign_in_state: str
    catalog: McpCatalog | None


def list_attachables(user: User) -> Sequence[Attachable]:
    """Return, by name, the enabled servers that list anything to the user, or that the user has to sign in to.
    Requests expired lists again, without waiting for them."""
    servers = list(McpServer.objects.without_documents().filter(is_enabled=True).defer("tools"))
    catalogs = {catalog.server_id: catalog for catalog in McpCatalog.objects.visible_to(user)}
    states = sign_in_states(user, servers)
    _refresh(user, states, catalogs)
    found = []
    for server in servers:
        catalog = catalogs.get(server.pk)
        is_listed = catalog is not None and bool(catalog.resources or catalog.prompts)
        if is_listed or states[server] == NEEDS_SIGN_IN:
            found.append(Attachable(server, states[server], catalog if _is_reachable(server) else None))
    return found


def attach_resource(user: User, server: McpServer, uri: str) -> McpRequest:
    """Have a worker read once a resource that the server lists to this user, and store it as a file of the user.
    Raises ApiError."""
    catalog = _catalog_of(user, server)
    if catalog is None or catalog.resource(uri) is None:
        raise ApiError("mcp_resource_not_found", field="uri")
    return _begin(user, server, McpRequestKind.RESOURCE, target=uri)


def fill_prompt(user: User, server: McpServer, name: str, arguments: Mapping[str, str]) -> McpRequest:
    """Have a worker request the text of a prompt with these arguments from the server. Raises ApiError."""
    catalog = _catalog_of(user, server)
    prompt = catalog.prompt(name) if catalog else None
    if prompt is None:
        raise ApiError("mcp_prompt_not_found", field="name")
    known = {argument["name"] for argument in prompt["arguments"]}
    for given, text in arguments.items():
        if given not in known or len(text) > MAX_ARGUMENT_CHARACTERS:
            raise ApiError("invalid_value", field=f"arguments.{given}")
    for argument in prompt["arguments"]:
        if argument["required"] and not arguments.get(argument["name"], "").strip():
            raise ApiError("field_required", field=f"arguments.{argument['name']}")
    return _begin(user, server, McpRequestKind.PROMPT, target=name, arguments=dict(arguments))


def _catalog_of(user: User, server: McpServer) -> McpCatalog | None:
    return McpCatalog.objects.visible_to(user).filter(server=server).first()


def _begin(user: User, server: McpServer, kind: McpRequestKind, **asked: Any) -> McpRequest:
    request = McpRequest.objects.begin(user, server, kind=kind, **asked)
    call_after_commit(lambda: _send(request))
    return request


def _send(request: McpRequest) -> None:
    try:
        send_message(ANSWER_MCP_REQUEST, DEFAULT_QUEUE, request_id=str(request.pk))
    except UNREACHABLE as error:
        logger.warning("the request to the MCP server %s waits in vain: %s", request.server, error)


def _is_reachable(server: McpServer) -> bool:
    return server.status == McpStatus.READY or server.takes_sign_ins


def _refresh(user: User, states: Mapping[McpServer, str], catalogs: Mapping[Any, McpCatalog]) -> None:
    """Request the lists that are missing or have expired. No caller waits for them."""
    held = {credential.server_id: credential for credential in McpCredential.objects.held_by(user)}
    now = timezone.now()
    for server, state in states.items():
        catalog = catalogs.get(server.pk)
        is_stale = catalog.expires_at < now if catalog else state != NEEDS_SIGN_IN
        if is_stale and (server.requested_at is None or server.requested_at < now - PATIENCE):
            request_listing(server, held.get(server.pk))
