"""Finds where a user signs in to a server that speaks OAuth 2.1, and as which client.

The order is the specification's (2026-07-28, Authorization); requests, metadata and checks are the SDK's. Knows no
rows: the state that is needed for the exchange (oauth_tokens.py) is a value. Uses the SDK.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlencode

import httpx2
from mcp.client.auth import OAuthFlowError, OAuthRegistrationError, PKCEParameters
from mcp.client.auth.oauth2 import check_registration_usable
from mcp.client.auth.utils import (
    build_oauth_authorization_server_metadata_discovery_urls,
    build_protected_resource_metadata_discovery_urls,
    create_client_info_from_metadata_url,
    create_client_registration_request,
    create_oauth_metadata_request,
    extract_resource_metadata_from_www_auth,
    extract_scope_from_www_auth,
    get_client_metadata_scopes,
    handle_auth_metadata_response,
    handle_protected_resource_response,
    handle_registration_response,
    is_valid_client_metadata_url,
    issuers_match,
    should_use_client_metadata_url,
    union_scopes,
)
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    ProtectedResourceMetadata,
)
from mcp.shared.auth_utils import check_resource_allowed, resource_url_from_server_url
from pydantic import AnyUrl, BaseModel, ValidationError

from features.mcp.client.configuration import RegisteredClient
from features.mcp.client.sign_in_answers import Send, ask, moved

CLIENT_NAME: Final = "Turnwire"
NOT_AS_SPECIFIED: Final = "The server's sign-in does not follow the specification."
LONGEST_ISSUER: Final = 2_000
NOT_AVAILABLE: Final = "The server's sign-in is not available at the moment."
# RFC 8414 names the first of these for servers that list none; the first that a server accepts is registered.
_SECRET_METHODS: Final = ("client_secret_basic", "client_secret_post")
_METHODS: Final = (*_SECRET_METHODS, "none")
_ASKED: Final = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


class SignInFailed(Exception):
    """A sign-in failed. The message is for people, without what the servers sent but addresses and names of errors.

    needs_sign_in: another sign-in may help.
    """

    needs_sign_in = False


class Flow(BaseModel):
    """A sign-in between the address and the exchange. resource: the server that the tokens are for (RFC 8707)."""

    issuer: OAuthMetadata
    client: OAuthClientInformationFull
    redirect_uri: str
    resource: str
    scope: str | None
    verifier: str


class Visit(NamedTuple):
    """A sign-in that begins. redirect_uri: where the user comes back.  state: what they come back with.
    headers: of the server's row.  scope: is asked for beside the scope that the server demands of everybody.
    registered: None if no client was registered by hand.  assumes_pkce: the issuer takes S256 without saying so.
    """

    url: str
    redirect_uri: str
    state: str
    client_metadata_url: str | None = None
    headers: Mapping[str, str] = {}
    scope: str = ""
    registered: RegisteredClient | None = None
    assumes_pkce: bool = False


async def begin(visit: Visit, send: Send) -> tuple[str, Flow]:
    """Return the address that the user is sent to, and the flow. Raises SignInFailed."""
    proof = PKCEParameters.generate()
    redirects: list[str] = []

    async def noting(request: httpx2.Request) -> httpx2.Response:
        response = await ask(request, send)
        redirects.extend(filter(None, [moved(response)]))
        return response

    try:
        flow = await _prepare(visit, proof, noting)
    except (OAuthFlowError, OAuthRegistrationError, ValidationError, SignInFailed) as error:
        problem = str(error) if isinstance(error, SignInFailed) else NOT_AS_SPECIFIED
        raise SignInFailed(" ".join([problem, *redirects[-1:]])) from error
    asked = {
        "response_type": "code",
        "client_id": flow.client.client_id,
        "redirect_uri": visit.redirect_uri,
        "state": visit.state,
        "code_challenge": proof.code_challenge,
        "code_challenge_method": "S256",
        "resource": flow.resource,
    }
    if flow.scope:
        asked["scope"] = flow.scope
        if "offline_access" in flow.scope.split():
            asked["prompt"] = "consent"  # OpenID Connect Core, section 11
    endpoint = str(flow.issuer.authorization_endpoint)
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(asked)}", flow


async def _prepare(visit: Visit, proof: PKCEParameters, send: Send) -> Flow:
    accepted = {"Accept": "application/json, text/event-stream", **visit.headers}
    challenge = await send(httpx2.Request("POST", visit.url, json=_ASKED, headers=accepted))
    resource = await _find_resource(visit.url, challenge, send)
    issuer = await _find_issuer(visit.url, resource, send)
    if "S256" not in (issuer.code_challenge_methods_supported or ()) and not visit.assumes_pkce:
        raise SignInFailed("The server's sign-in does not support PKCE.")
    scope = get_client_metadata_scopes(
        extract_scope_from_www_auth(challenge), resource, issuer, ["refresh_token"]
    )
    scope = union_scopes(scope, visit.scope)
    return Flow(
        issuer=issuer,
        client=await _client(visit, issuer, scope, send),
        redirect_uri=visit.redirect_uri,
        resource=str(resource.resource) if resource else resource_url_from_server_url(visit.url),
        scope=scope,
        verifier=proof.code_verifier,
    )


async def _find_resource(
    url: str, challenge: httpx2.Response, send: Send
) -> ProtectedResourceMetadata | None:
    """Fetch the metadata of the server (RFC 9728). None: it has none, like servers of revision 2025-03-26."""
    named = extract_resource_metadata_from_www_auth(challenge)
    for place in build_protected_resource_metadata_discovery_urls(named, url):
        found = await handle_protected_resource_response(await _get(place, send))
        if found is None:
            continue
        if not check_resource_allowed(resource_url_from_server_url(url), str(found.resource)):
            raise SignInFailed("What the server says of its sign-in is about another server.")
        return found
    return None


async def _find_issuer(url: str, resource: ProtectedResourceMetadata | None, send: Send) -> OAuthMetadata:
    """Fetch the metadata of the issuer (RFC 8414, or OpenID Connect Discovery)."""
    issuer = str(resource.authorization_servers[0]) if resource else None
    for place in build_oauth_authorization_server_metadata_discovery_urls(issuer, url):
        goes_on, found = await handle_auth_metadata_response(await _get(place, send))
        if found is not None:
            origin = httpx2.URL(url).copy_with(path="/", query=None, fragment=None)
            if not issuers_match(str(found.issuer), issuer or str(origin)):
                raise SignInFailed("What the issuer says of itself names another issuer.")
            if len(str(found.issuer)) > LONGEST_ISSUER:
                raise SignInFailed(NOT_AS_SPECIFIED)
            return found
        if not goes_on:
            break
    raise SignInFailed("The server does not say where users sign in.")


async def _get(url: str, send: Send) -> httpx2.Response:
    response = await send(create_oauth_metadata_request(url))
    if response.status_code >= 500 or response.status_code == 429:
        raise SignInFailed(NOT_AVAILABLE)
    return response


async def _client(
    visit: Visit, issuer: OAuthMetadata, scope: str | None, send: Send
) -> OAuthClientInformationFull:
    """Return the client that was registered by hand, or ours, known by its document, or else register one for this
    sign-in alone: an issuer that forgets clients cannot lock anybody out.
    """
    if visit.registered is not None:
        return _registered_client(visit.registered, issuer)
    redirect_uris = [AnyUrl(visit.redirect_uri)]
    document = visit.client_metadata_url if is_valid_client_metadata_url(visit.client_metadata_url) else None
    if document and should_use_client_metadata_url(issuer, document):
        return create_client_info_from_metadata_url(document, redirect_uris)
    if issuer.registration_endpoint is None:
        raise SignInFailed("The server's sign-in accepts no clients that it does not know.")
    supported = issuer.token_endpoint_auth_methods_supported or ()
    method = next((method for method in _METHODS if method in supported), None)
    metadata = OAuthClientMetadata(
        client_name=CLIENT_NAME,
        redirect_uris=redirect_uris,
        # A loopback address without TLS is one of native clients (OpenID Connect Registration, section 2).
        application_type="web" if visit.redirect_uri.startswith("https:") else "native",
        scope=scope,
        token_endpoint_auth_method=method,  # type: ignore[arg-type]
    )
    request = create_client_registration_request(issuer, metadata, visit.url)
    client = await handle_registration_response(await send(request))
    check_registration_usable(client)
    return client


def _registered_client(registered: RegisteredClient, issuer: OAuthMetadata) -> OAuthClientInformationFull:
    """Return the client as the SDK has it. Raises SignInFailed if it was registered with another issuer: who names the
    issuer is the server, which must not get the secret.
    """
    if not issuers_match(str(issuer.issuer), registered.issuer):
        raise SignInFailed("The server's sign-in is with another issuer than the one of its client.")
    method = "none"
    if registered.secret:
        # RFC 8414, section 2: issuers that name no method accept the first.
        supported = issuer.token_endpoint_auth_methods_supported or _METHODS
        method = next((one for one in _SECRET_METHODS if one in supported), "")
        if not method:
            raise SignInFailed("The server's sign-in takes no secrets of clients.")
    return OAuthClientInformationFull(
        client_id=registered.client_id,
        client_secret=registered.secret or None,
        token_endpoint_auth_method=method,
        issuer=registered.issuer,
    )
