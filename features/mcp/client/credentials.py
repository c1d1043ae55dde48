"""Credentials: the access tokens of requests to servers that users have signed in to, renewed when they have expired.

The SDK is not imported until a token has to be read. The row is shared by all processes, and read for each request.
"""

import asyncio
import logging
from datetime import UTC, datetime, timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from chat.infrastructure.encryption import EncryptionUnavailable, UnreadableSecret
from chat.models import McpCredential, McpRevocation
from chat.models.mcp_sign_in import REFRESH_TIME, is_scope
from features.mcp.client.configuration import SIGN_IN_NEEDED, ServerUnavailable
from features.mcp.client.server_endpoint import registered_client_of
from llm_worker.database import Database

if TYPE_CHECKING:
    from features.mcp.client.oauth_tokens import Secret
    from features.mcp.client.sign_in_answers import Send

# A token that expires on the way to the server is refused.
MARGIN: Final = timedelta(seconds=30)
# Between two looks at a row that another process renews.
_POLL_S: Final = 0.2


class Credentials:
    """Reads access tokens from rows, and renews them. send: None: the guarded client."""

    def __init__(self, database: Database, send: "Send | None" = None) -> None:
        self._database = database
        self._send = send
        self._renewals: set[asyncio.Task[str]] = set()

    async def token(self, credential: str, refused: str = "") -> str:
        """Return a token that is valid now. Raises ServerUnavailable.
        refused: the token that the server has just refused.
        """
        tokens: Any = await asyncio.to_thread(import_module, "features.mcp.client.oauth_tokens")
        try:
            async with asyncio.timeout(2 * REFRESH_TIME.total_seconds()):
                while True:
                    row, secret = await self._load(tokens, credential)
                    if secret.access_token != refused and not _has_expired(row):
                        return secret.access_token
                    if await self._database.call(McpCredential.objects.claim_refresh, row):
                        return await self._renew(tokens, row, secret)
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            raise ServerUnavailable("The server's sign-in did not answer in time.") from None

    async def demand(self, credential: str, scope: str) -> bool:
        """Note a scope for the next sign-in. Return whether the user should sign in again, as Tokens.demand does."""
        tokens: Any = await asyncio.to_thread(import_module, "features.mcp.client.oauth_tokens")
        row, secret = await self._load(tokens, credential)
        known = (secret.asked_scope or secret.scope or "").split()
        if set(scope.split()) <= set(known) or not is_scope(scope):
            return False
        await self._database.call_with_retry(McpCredential.objects.demand, row, scope)
        return True

    async def close(self) -> None:
        """Wait until the tokens that are being renewed are stored."""
        await asyncio.gather(*self._renewals, return_exceptions=True)

    async def _load(self, tokens: Any, credential: str) -> "tuple[McpCredential, Secret]":
        row = await self._database.call_with_retry(McpCredential.objects.filter(pk=credential).first)
        if row is None:
            raise sign_in_needed()
        try:
            return row, tokens.Secret.model_validate(row.secret)
        except EncryptionUnavailable:
            raise ServerUnavailable("The server is not set up.", "SECRETS_KEYS is not set.") from None
        except (UnreadableSecret, ValueError):
            await self._database.call(McpCredential.objects.forget, row)
            raise sign_in_needed() from None

    async def _renew(self, tokens: Any, row: McpCredential, secret: "Secret") -> str:
        """Renew the token, even if the call is cancelled meanwhile: the refresh token cannot be used a second time."""
        renewal = asyncio.create_task(self._ask_issuer(tokens, row, secret), name="mcp token renewal")
        self._renewals.add(renewal)
        renewal.add_done_callback(self._forget_renewal)
        return await asyncio.shield(renewal)

    def _forget_renewal(self, renewal: asyncio.Task[str]) -> None:
        self._renewals.discard(renewal)
        if not renewal.cancelled():
            renewal.exception()  # the call may have been cancelled

    async def _ask_issuer(self, tokens: Any, row: McpCredential, secret: "Secret") -> str:
        try:
            registered = await self._database.call_with_retry(registered_client_of, row.server_id)
            tokens.renew_client_secret(secret, row.issuer, registered)
            grant = await tokens.refresh(secret, self._send or _guarded())
        except tokens.SignInRefused:
            await self._database.call_with_retry(McpCredential.objects.forget, row)
            raise sign_in_needed() from None
        except tokens.SignInFailed as failed:
            await self._database.call_with_retry(McpCredential.objects.abandon_refresh, row)
            raise ServerUnavailable(str(failed), needs_sign_in=failed.needs_sign_in) from failed
        except ServerUnavailable:
            await self._database.call_with_retry(McpCredential.objects.abandon_refresh, row)
            raise
        stored = grant.secret.model_dump(mode="json")
        refreshed = McpCredential.objects.refreshed
        if not await self._database.call_with_retry(refreshed, row, stored, grant.expires_at):
            raise sign_in_needed()
        return str(grant.secret.access_token)


def sign_in_needed() -> ServerUnavailable:
    return ServerUnavailable(SIGN_IN_NEEDED, needs_sign_in=True)


def _has_expired(row: McpCredential) -> bool:
    return row.expires_at is not None and row.expires_at - MARGIN < datetime.now(UTC)


def _guarded() -> "Send":
    send: Send = import_module("features.mcp.client.oauth_requests").send_guarded
    return send


logger = logging.getLogger(__name__)


async def revoke(revocation_id: str, database: Database) -> None:
    """Revoke the tokens of a row at their issuer (RFC 7009), once: a row that is taken is deleted.

    Failures are only logged: the user is signed out here in any case.
    """
    row = await database.call(McpRevocation.objects.pop, revocation_id)
    if row is None:
        return
    tokens: Any = await asyncio.to_thread(import_module, "features.mcp.client.oauth_tokens")
    requests: Any = await asyncio.to_thread(import_module, "features.mcp.client.oauth_requests")
    try:
        await tokens.revoke(tokens.Secret.model_validate(row.secret), requests.send_guarded)
    except (tokens.SignInFailed, EncryptionUnavailable, UnreadableSecret, ValueError) as error:
        # The message of a validation error repeats the secret.
        problem = str(error) if isinstance(error, tokens.SignInFailed) else type(error).__name__
        logger.warning("tokens of an MCP server are not revoked: %s", problem)
