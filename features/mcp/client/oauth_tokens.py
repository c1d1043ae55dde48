"""Exchanges codes and refresh tokens for the tokens that calls are made with. Knows no rows. Uses the SDK."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

import httpx2
from mcp.client.auth import OAuthFlowError, OAuthTokenError
from mcp.client.auth.oauth2 import OAuthContext
from mcp.client.auth.utils import (
    handle_token_response_scopes,
    issuers_match,
    validate_authorization_response_iss,
)
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import BaseModel, ValidationError

from features.mcp.client.configuration import RegisteredClient
from features.mcp.client.oauth import NOT_AS_SPECIFIED, NOT_AVAILABLE, Flow, SignInFailed
from features.mcp.client.sign_in_answers import Send, ask, members_of, moved

MAX_TOKEN_CHARACTERS: Final = 16_000
_ERROR: Final = re.compile("[a-z_]{1,50}")
LONGEST_LIFE: Final = timedelta(days=3_650)


class SignInRefused(SignInFailed):
    """The issuer does not accept the code or the refresh token, or no longer: the user has to sign in again."""


class ClientForgotten(SignInFailed):
    """The issuer does not know the client that was registered for the sign-in: the next sign-in registers another."""

    needs_sign_in = True


class Secret(BaseModel):
    """The tokens of calls, and what renews them. scope: as granted.  asked_scope: as the user was asked for it."""

    access_token: str
    refresh_token: str | None
    token_endpoint: str
    client: OAuthClientInformationFull
    resource: str
    scope: str | None
    asked_scope: str | None = None
    revocation_endpoint: str | None = None


class Grant(NamedTuple):
    """Tokens from an issuer. expires_at: None if the issuer does not say."""

    secret: Secret
    expires_at: datetime | None


async def exchange(flow: Flow, code: str, iss: str | None, send: Send) -> Grant:
    """Exchange a code for tokens. `iss`: the issuer that the answer named (RFC 9207). Raises SignInFailed."""
    try:
        validate_authorization_response_iss(iss, flow.issuer)
    except OAuthFlowError as error:
        raise SignInFailed("The answer is not from the issuer that was asked.") from error
    data = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": flow.redirect_uri,
        "client_id": flow.client.client_id,
        "code_verifier": flow.verifier,
        "resource": flow.resource,
    }
    endpoint = str(flow.issuer.token_endpoint)
    token = await _request_token(endpoint, data, flow.client, send)
    return _grant(
        token,
        Secret(
            access_token=token.access_token,
            refresh_token=token.refresh_token,
            token_endpoint=endpoint,
            client=flow.client,
            resource=flow.resource,
            scope=token.scope or flow.scope,
            asked_scope=flow.scope,
            revocation_endpoint=_text_or_none(flow.issuer.revocation_endpoint),
        ),
    )


async def refresh(secret: Secret, send: Send) -> Grant:
    """Renew the tokens. Raises SignInRefused, or SignInFailed if the issuer could not be asked."""
    if not secret.refresh_token:
        raise SignInRefused("The sign-in has expired.")
    data = {
        "grant_type": "refresh_token",
        "refresh_token": secret.refresh_token,
        "client_id": secret.client.client_id,
        "resource": secret.resource,
    }
    token = await _request_token(secret.token_endpoint, data, secret.client, send)
    # RFC 6749, section 6: members that the answer leaves out stay as they were.
    renewed = {
        "access_token": token.access_token,
        "refresh_token": token.refresh_token or secret.refresh_token,
        "scope": token.scope or secret.scope,
    }
    return _grant(token, secret.model_copy(update=renewed))


def renew_client_secret(secret: Secret, issuer: str, registered: RegisteredClient | None) -> None:
    """Use the secret that a client registered by hand has now: it may have been replaced since the user signed in.
    issuer: who has issued the tokens; no other gets it, also if staff have entered another since.
    """
    if registered is None or not registered.secret or registered.client_id != secret.client.client_id:
        return
    if issuers_match(issuer, registered.issuer):
        secret.client.client_secret = registered.secret


async def revoke(secret: Secret, send: Send) -> None:
    """Ask the issuer to forget the tokens, if it has an address for that (RFC 7009). Raises SignInFailed.
    The refresh token is revoked first: the issuer may revoke others with it.
    """
    if not secret.revocation_endpoint:
        return
    refused = []
    for kind, token in (("refresh_token", secret.refresh_token), ("access_token", secret.access_token)):
        if token:
            data = {"token": token, "token_type_hint": kind, "client_id": str(secret.client.client_id)}
            data, headers = _context(secret.client).prepare_token_auth(data, {})
            request = httpx2.Request("POST", secret.revocation_endpoint, data=data, headers=headers)
            response = await ask(request, send)
            if response.status_code != 200:
                refused.append(response.status_code)
    if refused:
        raise SignInFailed(f"The issuer refused it (status {refused[0]}).")


async def _request_token(
    endpoint: str, data: dict[str, str], client: OAuthClientInformationFull, send: Send
) -> OAuthToken:
    try:
        data, headers = _context(client).prepare_token_auth(data, {})
        response = await ask(httpx2.Request("POST", endpoint, data=data, headers=headers), send)
        _check(response, client)
        token = await handle_token_response_scopes(response)
    except (OAuthTokenError, ValidationError) as error:
        raise SignInFailed(NOT_AS_SPECIFIED) from error
    tokens = (token.access_token, token.refresh_token or "")
    if not all(one.isascii() and one.isprintable() and len(one) <= MAX_TOKEN_CHARACTERS for one in tokens):
        raise SignInFailed("The server's sign-in gives tokens that cannot be sent.")
    return token


def _check(response: httpx2.Response, client: OAuthClientInformationFull) -> None:
    """Check that the answer may have tokens. Raises SignInRefused for the error `invalid_grant` alone, SignInFailed.
    Some issuers answer errors (RFC 6749, section 5.2) with status 200.
    """
    status = response.status_code
    if status >= 500 or status == 429:
        raise SignInFailed(NOT_AVAILABLE)
    error = str((members_of(response) or {}).get("error", ""))
    if error == "invalid_grant":
        raise SignInRefused("The server's sign-in was refused.")
    if error == "invalid_client":
        # Staff have to mend a client of theirs: users who sign in again would not help.
        if client.issuer:
            raise SignInFailed("The issuer does not accept the client that was registered with it.")
        raise ClientForgotten("The server's sign-in has forgotten the client.")
    if error or status not in (200, 201):
        named = error if _ERROR.fullmatch(error) else f"status {status}"
        raise SignInFailed(f"The server's sign-in was refused ({named}). {moved(response)}".strip())


def _grant(token: OAuthToken, secret: Secret) -> Grant:
    if token.expires_in is None:
        return Grant(secret, None)
    life = min(max(timedelta(0), timedelta(seconds=min(token.expires_in, 10**9))), LONGEST_LIFE)
    return Grant(secret, datetime.now(UTC) + life)


def _text_or_none(url: object) -> str | None:
    return str(url) if url else None


def _context(client: OAuthClientInformationFull) -> OAuthContext:
    """Return a context of the SDK, which authenticates the client."""
    return OAuthContext(
        server_url="",
        client_metadata=OAuthClientMetadata(redirect_uris=None),
        storage=None,  # type: ignore[arg-type]
        redirect_handler=None,
        callback_handler=None,
        client_info=client,
    )
