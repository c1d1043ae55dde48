"""Signing in to a server, against the authorization server of the SDK, and against addresses that are asked nothing."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import httpx2
import pytest

from features.mcp.client.oauth import Flow, SignInFailed, Visit, begin
from features.mcp.client.oauth_requests import send_guarded
from features.mcp.client.oauth_tokens import Grant, SignInRefused, exchange, refresh
from tests.features.mcp.client.test_oauth_metadata import (
    CALLBACK,
    ISSUER,
    METADATA,
    ORIGIN,
    Scripted,
    begin_with,
)
from tests.instance import free_port
from tests.mcp_oauth_server import Issuer, serve

pytestmark = [pytest.mark.e2e]


@dataclass
class Harbour:
    url: str
    issuer: Issuer


@pytest.fixture
def harbour(settings: Any) -> Iterator[Harbour]:
    port = free_port()
    settings.URL_ALLOWED_HOSTS = frozenset({f"127.0.0.1:{port}"})
    with serve(port) as issuer:
        yield Harbour(f"http://127.0.0.1:{port}/mcp", issuer)


async def come_back(address: str) -> dict[str, str]:
    """What the browser brings back from there."""
    async with aiohttp.ClientSession() as browser, browser.get(address, allow_redirects=False) as response:
        place = response.headers["Location"]
    assert place.startswith(CALLBACK)
    return {name: values[0] for name, values in parse_qs(urlsplit(place).query).items()}


async def sign_in(harbour: Harbour) -> tuple[Flow, Grant]:
    address, flow = await begin(Visit(harbour.url, CALLBACK, "the-state"), send_guarded)
    came = await come_back(address)
    assert came["state"] == "the-state"
    return flow, await exchange(flow, came["code"], came["iss"], send_guarded)


async def test_a_user_signs_in(harbour: Harbour) -> None:
    flow, grant = await sign_in(harbour)
    token = harbour.issuer.access[grant.secret.access_token]
    # RFC 8707: it is for this server alone.
    assert (token.resource, token.scopes) == (harbour.url, ["tides"])
    assert grant.expires_at is not None
    assert flow.client.client_id in harbour.issuer.clients
    # What is kept between the steps is text.
    assert Flow.model_validate_json(flow.model_dump_json()) == flow


async def test_the_answer_of_another_issuer_is_refused(harbour: Harbour) -> None:
    harbour.issuer.iss = "https://mallory.example.com"
    with pytest.raises(SignInFailed, match="not from the issuer"):
        await sign_in(harbour)
    assert not harbour.issuer.access


async def test_a_code_is_of_no_use_without_its_proof(harbour: Harbour) -> None:
    """PKCE: whoever has seen the address of the callback."""
    address, _ = await begin(Visit(harbour.url, CALLBACK, "the-state"), send_guarded)
    came = await come_back(address)
    _, another = await begin(Visit(harbour.url, CALLBACK, "the-state"), send_guarded)
    with pytest.raises(SignInRefused):
        await exchange(another, came["code"], came["iss"], send_guarded)


async def test_tokens_are_renewed_until_they_are_revoked(harbour: Harbour) -> None:
    _, grant = await sign_in(harbour)
    renewed = await refresh(grant.secret, send_guarded)
    assert renewed.secret.access_token != grant.secret.access_token
    assert (await refresh(renewed.secret, send_guarded)).secret.scope == "tides"
    with pytest.raises(SignInRefused):
        await refresh(grant.secret, send_guarded)


@pytest.mark.parametrize(
    "named", ["http://127.0.0.1:1/meta", "http://169.254.169.254/meta", "http://localhost/meta", "file:///etc/passwd"]
)  # fmt: skip
async def test_metadata_in_the_private_network_is_not_requested(named: str) -> None:
    challenge = httpx2.Response(401, headers={"WWW-Authenticate": f'Bearer resource_metadata="{named}"'})
    scripted = Scripted({f"{ORIGIN}/mcp": lambda _: challenge})

    async def send(request: httpx2.Request) -> httpx2.Response:
        return await (scripted.send if str(request.url) == f"{ORIGIN}/mcp" else send_guarded)(request)

    with pytest.raises(SignInFailed, match=r"cannot be reached \(url_"):
        await begin(Visit(f"{ORIGIN}/mcp", CALLBACK, "s"), send)


@pytest.mark.parametrize("endpoint", ["http://auth.example.com/token", "http://127.0.0.1/token"])
async def test_codes_are_sent_with_tls_alone(endpoint: str) -> None:
    metadata = METADATA | {"token_endpoint": endpoint}
    _, flow = await begin_with({f"{ISSUER}/.well-known/oauth-authorization-server": metadata})
    with pytest.raises(SignInFailed, match=r"cannot be reached \(url_"):
        await exchange(flow, "code", None, send_guarded)
