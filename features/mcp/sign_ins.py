"""Use cases of signing in to MCP servers. Workers make the requests (features/mcp/client/sign_ins.py)."""

import json
import logging
from collections.abc import Collection, Mapping
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from chat.infrastructure import encryption
from chat.infrastructure.background import call_after_commit
from chat.models import McpCredential, McpRevocation, McpServer, McpSignIn
from chat.models.mcp_server import McpStatus
from chat.models.mcp_sign_in import SignInStatus
from chat.protocol.errors import ApiError
from chat.protocol.tasks import DEFAULT_QUEUE
from chat.runs.task_queue import UNREACHABLE, send_message
from features.mcp.tool_lists import request_listing

logger = logging.getLogger(__name__)

# Workers of other releases read the names of tasks: do not change them.
ADVANCE_MCP_SIGN_IN: Final = "llm_worker.advance_mcp_sign_in"  # sign_in_id: str
REVOKE_MCP_TOKENS: Final = "llm_worker.revoke_mcp_tokens"  # revocation_id: str
# Whether a user has signed in to a server.
NOT_NEEDED: Final = "not_needed"
NEEDS_SIGN_IN: Final = "needs_sign_in"
SIGNED_IN: Final = "signed_in"
# The limit of each value that an issuer sends through the browser.
MAX_ANSWER_CHARACTERS: Final = 4_000


def begin_sign_in(user: User, server: McpServer, redirect_uri: str) -> McpSignIn:
    """Begin a sign-in, and have a worker find the address where the user signs in. Raises ApiError."""
    _check_may_sign_in(user, server)
    if not encryption.is_available():
        raise ApiError("encryption_unavailable")
    sign_in = McpSignIn.objects.begin(user, server, redirect_uri)
    _advance(sign_in)
    return sign_in


def take_answer(sign_in: McpSignIn, answer: Mapping[str, str]) -> bool:
    """Have a worker exchange the values that the browser returned: `code` or `error`, and `iss`.
    False: the sign-in has an answer already, or has expired."""
    kept = {
        name: text[:MAX_ANSWER_CHARACTERS]
        for name, text in answer.items()
        if name in {"code", "error", "iss"}
    }
    encrypted = encryption.encrypt(json.dumps(kept))
    taken = McpSignIn.objects.move(
        sign_in, SignInStatus.READY, SignInStatus.EXCHANGING, encrypted_answer=encrypted
    )
    if taken:
        _advance(sign_in)
    return taken


def sign_out(user: User, server: McpServer) -> None:
    """Delete the credential of this user, or of all users, and have a worker revoke it at its issuer.
    Idempotent: without a credential, no worker has anything to do. Raises ApiError."""
    _check_may_sign_in(user, server)
    McpSignIn.objects.filter(user=user, server=server).delete()
    held = McpCredential.objects.filter(server=server, user=None if server.is_shared else user)
    with transaction.atomic():
        for credential in held.select_for_update():
            _revoke(McpRevocation.objects.begin(credential))
        deleted, _ = held.delete()
    if deleted:
        request_listing(server)


def may_sign_in(user: User, server: McpServer) -> bool:
    """Return whether the user may sign in to the server.
    If all users share a sign-in, only staff with the permission may."""
    return not server.is_shared or (user.is_staff and user.has_perm("chat.change_mcpserver"))


def can_sign_in(user_id: int, server: McpServer) -> bool:
    """Return whether the user can sign in to the server, so that it makes sense to ask for it."""
    if not (server.takes_sign_ins and encryption.is_available()):
        return False
    return not server.is_shared or may_sign_in(User.objects.get(pk=user_id), server)


def sign_in_states(user: User, servers: Collection[McpServer]) -> Mapping[McpServer, str]:
    """Return for each server whether the user has to sign in (again) before all of its tools can be called."""
    usable = McpCredential.objects.usable().filter(server=OuterRef("pk"))
    mine = usable.filter(Q(user=user) | Q(user=None), wanted_scope="")
    rows: QuerySet[McpServer] = McpServer.objects.filter(pk__in=[server.pk for server in servers])
    found = {
        pk: (is_mine, is_used)
        for pk, is_mine, is_used in rows.annotate(is_mine=Exists(mine), is_used=Exists(usable)).values_list(
            "pk", "is_mine", "is_used"
        )
    }
    return {server: _state(server, *found.get(server.pk, (False, False))) for server in servers}


def _state(server: McpServer, is_mine: bool, is_used: bool) -> str:
    """Return the state. is_used: a user has signed in to the server, so it is known to demand a sign-in."""
    if is_mine:
        return SIGNED_IN
    demands = server.takes_sign_ins and (is_used or server.status == McpStatus.NEEDS_SIGN_IN)
    return NEEDS_SIGN_IN if demands else NOT_NEEDED


def _check_may_sign_in(user: User, server: McpServer) -> None:
    if not server.takes_sign_ins:
        raise ApiError("mcp_server_without_sign_in")
    if not may_sign_in(user, server):
        raise ApiError("permission_denied")


def _revoke(revocation: McpRevocation) -> None:
    def send() -> None:
        try:
            send_message(REVOKE_MCP_TOKENS, DEFAULT_QUEUE, revocation_id=str(revocation.pk))
        except UNREACHABLE as error:
            logger.warning("tokens of an MCP server are not revoked: %s", error)

    call_after_commit(send)


def _advance(sign_in: McpSignIn) -> None:
    call_after_commit(lambda: _send(sign_in))


def _send(sign_in: McpSignIn) -> None:
    try:
        send_message(ADVANCE_MCP_SIGN_IN, DEFAULT_QUEUE, sign_in_id=str(sign_in.pk))
    except UNREACHABLE as error:
        logger.warning("the sign-in to the MCP server %s waits in vain: %s", sign_in.server, error)
