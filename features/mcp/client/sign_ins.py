"""Signs users in to servers for the web process, which makes no requests.

Finds the address that the user goes to, and exchanges the answer that they come back with. Each step is done once: a
second delivery finds that the sign-in has moved on.
"""

import asyncio
import json
import logging
from importlib import import_module
from typing import Any, Final

from django.db import transaction

from chat.infrastructure.encryption import EncryptionUnavailable, UnreadableSecret, decrypt, encrypt
from chat.models import McpCredential, McpSignIn
from chat.models.mcp_sign_in import MAX_ADDRESS, SignInStatus
from chat.turns.approvals import end_sign_ins
from features.mcp.client.configuration import RegisteredClient, ServerUnavailable, values_of
from features.mcp.client.server_endpoint import registered_client_of
from features.mcp.tool_lists import request_listing
from llm_worker.database import Database

logger = logging.getLogger(__name__)

CLIENT_DOCUMENT: Final = "client.json"
_MAX_PROBLEM: Final = 500
_NO_KEYS: Final = "SECRETS_KEYS is not set, or was changed."


async def advance_sign_in(sign_in_id: str, database: Database) -> None:
    """Take the step that the sign-in waits for."""
    await _prepare(sign_in_id, database)
    await _finish(sign_in_id, database)


async def _prepare(sign_in_id: str, database: Database) -> None:
    """Store the address that the user has to go to, or the problem."""
    sign_in = await database.call_with_retry(_load, sign_in_id, SignInStatus.PREPARING)
    if sign_in is None:
        return
    try:
        scope = await database.call_with_retry(_load_scope, sign_in)
        registered = await database.call_with_retry(registered_client_of, sign_in.server_id)
        address, flow = await _begin(sign_in, scope, registered)
        fields = {"address": address, "encrypted_flow": encrypt(flow)}
    except _errors() as error:
        await database.call_with_retry(_fail, sign_in, SignInStatus.PREPARING, error)
    else:
        await database.call_with_retry(
            McpSignIn.objects.move, sign_in, SignInStatus.PREPARING, SignInStatus.READY, **fields
        )


async def _finish(sign_in_id: str, database: Database) -> None:
    """Exchange the answer that the user came back with, once: a code that is used twice is revoked by its issuer."""
    sign_in = await database.call_with_retry(_load, sign_in_id, SignInStatus.EXCHANGING)
    if sign_in is None or not await database.call(_take_answer, sign_in):
        return
    try:
        grant, issuer = await _exchange(sign_in)
    except _errors() as error:
        await database.call_with_retry(_fail, sign_in, SignInStatus.EXCHANGING, error)
    else:
        await database.call_with_retry(_complete, sign_in, issuer, grant)
        await database.call_with_retry(end_sign_ins, sign_in.server_id)


async def _begin(sign_in: McpSignIn, scope: str, registered: RegisteredClient | None) -> tuple[str, str]:
    """Return the address, and the flow as JSON. `scope`: the scope that the server has demanded of the user before.
    registered: the client that staff have registered.
    """
    oauth, requests = await _modules("oauth", "oauth_requests")
    visit = oauth.Visit(
        sign_in.url,
        sign_in.redirect_uri,
        sign_in.state,
        sign_in.redirect_uri.rsplit("/", 2)[0] + f"/{CLIENT_DOCUMENT}",
        values_of(tuple(sign_in.server.headers.items())),
        scope,
        registered,
        sign_in.server.assumes_pkce,
    )
    address, flow = await oauth.begin(visit, requests.send_guarded)
    requests.require_browser_address(address)
    if len(address) > MAX_ADDRESS:
        raise oauth.SignInFailed("The address of the server's sign-in is too long.")
    return address, flow.model_dump_json()


async def _exchange(sign_in: McpSignIn) -> tuple[Any, str]:
    oauth, tokens, requests = await _modules("oauth", "oauth_tokens", "oauth_requests")
    answer = json.loads(decrypt(sign_in.encrypted_answer))
    flow = oauth.Flow.model_validate_json(decrypt(sign_in.encrypted_flow))
    if answer.get("error"):
        raise oauth.SignInFailed("The sign-in was refused or cancelled.")
    grant = await tokens.exchange(flow, answer["code"], answer.get("iss"), requests.send_guarded)
    return grant, str(flow.issuer.issuer)


async def _modules(*names: str) -> list[Any]:
    """Import modules that use the SDK in a thread, because that takes a second."""
    return [await asyncio.to_thread(import_module, f"features.mcp.client.{name}") for name in names]


def _errors() -> tuple[type[Exception], ...]:
    failed: type[Exception] = import_module("features.mcp.client.oauth").SignInFailed
    return (failed, ServerUnavailable, EncryptionUnavailable, UnreadableSecret)


def _load(sign_in_id: str, status: SignInStatus) -> McpSignIn | None:
    """Load a sign-in; None if the server's address or kind of sign-in was changed since."""
    found = McpSignIn.objects.live().filter(pk=sign_in_id, status=status).select_related("server", "user")
    sign_in = found.first()
    is_current = sign_in and (sign_in.url, sign_in.is_shared) == (
        sign_in.server.url,
        sign_in.server.is_shared,
    )
    return sign_in if is_current else None


def _load_scope(sign_in: McpSignIn) -> str:
    """Return the scope of the last sign-in, with what is demanded beside it; empty: nothing more is demanded."""
    user = None if sign_in.is_shared else sign_in.user
    held = McpCredential.objects.usable().filter(server=sign_in.server, user=user).exclude(wanted_scope="")
    credential = held.first()
    if credential is None:
        return ""
    try:
        before = credential.secret.get("asked_scope") or credential.secret.get("scope") or ""
    except (EncryptionUnavailable, UnreadableSecret, ValueError):
        before = ""
    return f"{before} {credential.wanted_scope}".strip()


def _take_answer(sign_in: McpSignIn) -> bool:
    """Claim the user's answer. Return whether it is this process that exchanges it."""
    waiting = McpSignIn.objects.live().filter(pk=sign_in.pk, status=SignInStatus.EXCHANGING)
    return bool(waiting.exclude(encrypted_answer="").update(encrypted_answer=""))


def _fail(sign_in: McpSignIn, before: SignInStatus, error: Exception) -> None:
    problem = str(error) or _NO_KEYS
    logger.warning("no sign-in to the MCP server %s: %s", sign_in.server, problem)
    McpSignIn.objects.move(
        sign_in, before, SignInStatus.FAILED, problem=problem[:_MAX_PROBLEM], encrypted_flow=""
    )


def _complete(sign_in: McpSignIn, issuer: str, grant: Any) -> None:
    """Store the credential of a sign-in, and request the server's list. Idempotent."""
    with transaction.atomic():
        if not McpSignIn.objects.move(sign_in, SignInStatus.EXCHANGING, SignInStatus.DONE, encrypted_flow=""):
            return
        secret = grant.secret.model_dump(mode="json")
        stored = McpCredential.objects.store(sign_in, issuer, secret, expires_at=grant.expires_at)
        request_listing(sign_in.server, stored)
