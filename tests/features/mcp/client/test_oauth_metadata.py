"""Signing in to a server, against scripted ones that say what they should not."""

from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from features.mcp.client.configuration import RegisteredClient
from features.mcp.client.oauth import Flow, SignInFailed, Visit, begin
from features.mcp.client.oauth_tokens import Secret, renew_client_secret

# The SDK takes half a second to import.
pytestmark = [pytest.mark.pure, pytest.mark.slow]

CALLBACK = "https://chat.example.com/mcp/callback/"
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


async def test_the_address_keeps_the_query_of_the_endpoint() -> None:
    address, _ = await begin_with({})
    assert address.startswith(f"{ISSUER}/authorize?tenant=1&response_type=code&client_id=our-client&")


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


async def test_metadata_of_openid_connect_is_found_as_well() -> None:
    place = f"{ISSUER}/.well-known"
    moved: Answers = {
        f"{place}/oauth-authorization-server": lambda _: httpx2.Response(404),
        f"{place}/openid-configuration": METADATA,
    }
    _, flow = await begin_with(moved)
    assert str(flow.issuer.issuer) == ISSUER


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


REGISTERED = RegisteredClient(ISSUER, "ours", "s3cret")
REGISTERS_NOBODY = METADATA | {"registration_endpoint": None}


def metadata(**members: Any) -> Answers:
    return {f"{ISSUER}/.well-known/oauth-authorization-server": REGISTERS_NOBODY | members}


@pytest.mark.parametrize(
    ("supported", "secret", "method"),
    [
        (None, "s3cret", "client_secret_basic"),
        (["client_secret_post", "private_key_jwt"], "s3cret", "client_secret_post"),
        (["client_secret_basic"], "", "none"),
    ],
)
async def test_a_client_that_was_registered_by_hand_is_the_one_of_sign_ins(supported, secret, method) -> None:
    answers = metadata(token_endpoint_auth_methods_supported=supported)
    address, flow = await begin_with(answers, registered=REGISTERED._replace(secret=secret))
    assert "client_id=ours&" in address
    client = flow.client
    assert (client.client_id, client.client_secret, client.token_endpoint_auth_method) == (
        "ours",
        secret or None,
        method,
    )


@pytest.mark.parametrize(
    ("answers", "issuer", "problem"),
    [
        pytest.param(metadata(), "https://other.example.com", "another issuer", id="of another issuer"),
        pytest.param(
            metadata(token_endpoint_auth_methods_supported=["private_key_jwt"]),
            ISSUER,
            "takes no secrets of clients",
            id="that would have to sign",
        ),
    ],
)
async def test_a_registered_client_is_refused(answers: Answers, issuer: str, problem: str) -> None:
    with pytest.raises(SignInFailed, match=problem):
        await begin_with(answers, registered=REGISTERED._replace(issuer=issuer))


@pytest.mark.parametrize(
    ("issuer", "client_id", "secret"),
    [
        (ISSUER, "ours", "new"),
        ("https://other.example.com", "ours", "old"),
        (ISSUER, "another", "old"),
    ],
)
def test_a_replaced_secret_is_for_the_client_and_the_issuer_of_the_row_alone(
    issuer, client_id, secret
) -> None:
    """The credential is from before staff entered another issuer, or another client."""
    client = {"client_id": client_id, "client_secret": "old"}
    tokens = {"access_token": "a", "refresh_token": None, "token_endpoint": "", "resource": "", "scope": None}
    kept = Secret.model_validate({**tokens, "client": client})
    renew_client_secret(kept, issuer, REGISTERED._replace(secret="new"))
    assert kept.client.client_secret == secret


async def test_the_scopes_are_those_that_the_refusal_names() -> None:
    challenge = httpx2.Response(401, headers={"WWW-Authenticate": 'Bearer scope="read write"'})
    address, _ = await begin_with({f"{ORIGIN}/mcp": lambda _: challenge})
    assert "scope=read+write" in address
