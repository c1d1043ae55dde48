"""Signing in to a server: against the authorization server of the SDK, and against scripted ones that do what they should not."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs, urlsplit

import aiohttp
import httpx2
import pytest

from llm_worker.mcp.oauth import Flow, SignInFailed, Visit, begin
from llm_worker.mcp.oauth_requests import send_guarded
from llm_worker.mcp.oauth_tokens import Grant, SignInRefused, exchange, refresh
from tests.instance import free_port
from tests.mcp_oauth_server import Issuer, serve

CALLBACK = "https://chat.example.com/mcp/callback/"
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


Answers = dict[str, Callable[[httpx2.Request], httpx2.Response] | dict[str, Any]]
ORIGIN = "https://mcp.example.com"
ISSUER = "https://auth.example.com"
ENDLESS = f"{ISSUER}/{'t' * 2_000}"
RESOURCE = {"resource": f"{ORIGIN}/mcp", "authorization_servers": [ISSUER]}
METADATA = {
    "issuer": ISSUER,
    "authorization_endpoint": f"{ISSUER}/authorize?tenant=1",
    "token_endpoint": f"{ISSUER}/token",
    "registration_endpoint": f"{ISSUER}/register",
    "code_challenge_methods_supported": ["S256"],
}
FOUND: Answers = {
    f"{ORIGIN}/.well-known/oauth-protected-resource/mcp": RESOURCE,
    f"{ISSUER}/.well-known/oauth-authorization-server": METADATA,
    f"{ISSUER}/register": {"client_id": "our-client"},
}


class Scripted:
    """Answers by address; 404 elsewhere. asked: the addresses, in order."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self.asked: list[str] = []

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        self.asked.append(str(request.url))
        answer = self._answers.get(str(request.url))
        if answer is None:
            return httpx2.Response(404)
        return answer(request) if callable(answer) else httpx2.Response(200, json=answer)


async def begin_with(answers: Answers, **visit: Any) -> tuple[str, Flow]:
    return await begin(Visit(f"{ORIGIN}/mcp", CALLBACK, "s", **visit), Scripted(FOUND | answers).send)


@pytest.mark.pure
@pytest.mark.slow  # the SDK takes half a second to import
async def test_the_address_keeps_the_query_of_the_endpoint() -> None:
    address, _ = await begin_with({})
    assert address.startswith(f"{ISSUER}/authorize?tenant=1&response_type=code&client_id=our-client&")


@pytest.mark.pure
@pytest.mark.slow  # the SDK takes half a second to import
@pytest.mark.parametrize(
    ("answers", "problem"),
    [
        pytest.param(
            {f"{ORIGIN}/.well-known/oauth-protected-resource/mcp": RESOURCE | {"resource": "https://mallory.example.com"}},
            "about another server",
            id="tokens for another server",
        ),
        pytest.param(
            {f"{ISSUER}/.well-known/oauth-authorization-server": METADATA | {"issuer": "https://mallory.example.com"}},
            "names another issuer",
            id="the metadata of another issuer",
        ),
        pytest.param(
            {f"{ISSUER}/.well-known/oauth-authorization-server": METADATA | {"code_challenge_methods_supported": ["plain"]}},
            "does not support PKCE",
            id="no proof",
        ),
        pytest.param(
            {f"{ISSUER}/.well-known/oauth-authorization-server": METADATA | {"registration_endpoint": None}},
            "accepts no clients",
            id="no registration",
        ),
        pytest.param(
            {
                f"{ORIGIN}/.well-known/oauth-protected-resource/mcp": RESOURCE | {"authorization_servers": [ENDLESS]},
                f"{ISSUER}/.well-known/oauth-authorization-server/{'t' * 2_000}": METADATA | {"issuer": ENDLESS},
            },
            "does not follow the specification",
            id="an issuer too long to be stored",
        ),
        pytest.param(
            {f"{ISSUER}/register": lambda _: httpx2.Response(403, text="no")},
            "does not follow the specification",
            id="a refused registration",
        ),
        pytest.param(
            {f"{ISSUER}/register": {"client_id": "c", "token_endpoint_auth_method": "private_key_jwt"}},
            "does not follow the specification",
            id="a client that has to sign",
        ),
        pytest.param(
            {f"{ISSUER}/.well-known/oauth-authorization-server": lambda _: httpx2.Response(503)},
            "not available",
            id="an issuer that is down",
        ),
        pytest.param(
            {f"{ISSUER}/.well-known/oauth-authorization-server": lambda _: httpx2.Response(302)},
            "does not say where",
            id="a redirect",
        ),
    ],
)  # fmt: skip
async def test_a_server_is_refused_that_says(answers: Answers, problem: str) -> None:
    with pytest.raises(SignInFailed, match=problem):
        await begin_with(answers)


@pytest.mark.pure
@pytest.mark.slow  # the SDK takes half a second to import
async def test_metadata_of_openid_connect_is_found_as_well() -> None:
    place = f"{ISSUER}/.well-known"
    moved: Answers = {
        f"{place}/oauth-authorization-server": lambda _: httpx2.Response(404),
        f"{place}/openid-configuration": METADATA,
    }
    _, flow = await begin_with(moved)
    assert str(flow.issuer.issuer) == ISSUER


@pytest.mark.pure
@pytest.mark.slow  # the SDK takes half a second to import
async def test_an_issuer_that_reads_documents_of_clients_registers_none() -> None:
    document = "https://chat.example.com/mcp/client.json"
    answers: Answers = {
        f"{ISSUER}/.well-known/oauth-authorization-server": METADATA
        | {"client_id_metadata_document_supported": True}
    }
    _, flow = await begin_with(answers, client_metadata_url=document)
    assert flow.client.client_id == document
    # Of an instance without TLS there is none.
    _, flow = await begin_with(answers, client_metadata_url=document.replace("https", "http"))
    assert flow.client.client_id == "our-client"


@pytest.mark.pure
@pytest.mark.slow  # the SDK takes half a second to import
async def test_the_scopes_are_those_that_the_refusal_names() -> None:
    challenge = httpx2.Response(401, headers={"WWW-Authenticate": 'Bearer scope="read write"'})
    address, _ = await begin_with({f"{ORIGIN}/mcp": lambda _: challenge})
    assert "scope=read+write" in address


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
