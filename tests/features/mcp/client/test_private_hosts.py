"""A name that leads into the private network is not connected to, at whatever step of a server or a sign-in it turns up.

The name server is the test's: whoever has a name can lead it elsewhere between two lookups (DNS rebinding).
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx2
import pytest

from features.mcp.client.configuration import Configuration, NoTokens
from features.mcp.client.http import NOT_SENT, HttpServer
from features.mcp.client.oauth import SignInFailed, Visit, begin
from features.mcp.client.oauth_requests import send_guarded
from features.mcp.client.oauth_tokens import Secret, exchange, refresh, revoke
from tests.features.mcp.client.test_oauth_metadata import (
    CALLBACK,
    FOUND,
    ISSUER,
    METADATA,
    ORIGIN,
    RESOURCE,
    Answers,
    Scripted,
)

# The SDK takes half a second to import.
pytestmark = [pytest.mark.pure, pytest.mark.slow]

METADATA_OF_ISSUER = f"{ISSUER}/.well-known/oauth-authorization-server"
METADATA_OF_SERVER = f"{ORIGIN}/.well-known/oauth-protected-resource/mcp"


class Inside:
    """A name of the private network, as the name server of the test says. connected: the addresses that were tried."""

    origin = "https://inside.example.com"

    def __init__(self) -> None:
        self.answers = ["10.0.0.1"]
        self.asked: list[str] = []
        self.connected: list[tuple[str, int]] = []

    def resolve(self, host: str, _port: int) -> list[str]:
        self.asked.append(host)
        return [self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]]

    async def send(self, request: httpx2.Request) -> httpx2.Response:
        return await send_guarded(request, self.resolve)


@pytest.fixture
def inside(monkeypatch: pytest.MonkeyPatch) -> Inside:
    """Nothing answers at any address."""
    made = Inside()

    async def connect(_loop: Any, _socket: Any, address: Any) -> None:
        made.connected.append(address[:2])
        raise ConnectionRefusedError

    monkeypatch.setattr(asyncio.selector_events.BaseSelectorEventLoop, "sock_connect", connect)
    return made


async def sign_in(inside: Inside, answers: Answers) -> None:
    """All but what is inside is answered."""
    scripted = Scripted(FOUND | answers)

    async def send(request: httpx2.Request) -> httpx2.Response:
        return await (inside.send if request.url.host == "inside.example.com" else scripted.send)(request)

    _, flow = await begin(Visit(f"{ORIGIN}/mcp", CALLBACK, "s"), send)
    await exchange(flow, "code", None, send)


def challenge(inside: Inside) -> Callable[[httpx2.Request], httpx2.Response]:
    named = f'Bearer resource_metadata="{inside.origin}/meta"'
    return lambda _: httpx2.Response(401, headers={"WWW-Authenticate": named})


def tokens(inside: Inside) -> Secret:
    return Secret.model_validate(
        {
            "access_token": "a", "refresh_token": "r", "resource": "", "scope": None, "client": {"client_id": "c"},
            "token_endpoint": f"{inside.origin}/token", "revocation_endpoint": f"{inside.origin}/revoke",
        }
    )  # fmt: skip


STEPS: dict[str, Callable[[Inside], Awaitable[object]]] = {
    "the server, before a sign-in": lambda inside: begin(Visit(f"{inside.origin}/mcp", CALLBACK, "s"), inside.send),
    "metadata of the server": lambda inside: sign_in(inside, {f"{ORIGIN}/mcp": challenge(inside)}),
    "metadata of the issuer": lambda inside: sign_in(
        inside, {METADATA_OF_SERVER: RESOURCE | {"authorization_servers": [inside.origin]}}
    ),
    "registration": lambda inside: sign_in(
        inside, {METADATA_OF_ISSUER: METADATA | {"registration_endpoint": f"{inside.origin}/register"}}
    ),
    "exchange of the code": lambda inside: sign_in(
        inside, {METADATA_OF_ISSUER: METADATA | {"token_endpoint": f"{inside.origin}/token"}}
    ),
    "renewal": lambda inside: refresh(tokens(inside), inside.send),
    "revocation": lambda inside: revoke(tokens(inside), inside.send),
}  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
async def test_no_step_of_a_sign_in_connects_to_a_private_address(inside: Inside, step: str) -> None:
    with pytest.raises(SignInFailed, match=r"cannot be reached \(url_address_blocked\)"):
        await STEPS[step](inside)
    assert (inside.asked, inside.connected) == (["inside.example.com"], [])


async def test_a_server_whose_name_is_led_elsewhere_is_sent_no_message(inside: Inside) -> None:
    configuration = Configuration("id", "1", "inside", (), f"{inside.origin}/mcp", (), ())
    server = HttpServer(configuration, NoTokens(), inside.resolve)
    async with server.client() as http:
        response = await http.post(configuration.url, json={"jsonrpc": "2.0", "id": 1, "method": "ping"})
    assert (response.status_code, server.problem) == (
        NOT_SENT,
        "The server cannot be reached (url_address_blocked).",
    )
    assert (inside.asked, inside.connected) == (["inside.example.com"], [])


async def test_a_name_that_is_led_elsewhere_between_two_lookups_is_connected_to_where_it_was_checked(
    inside: Inside,
) -> None:
    """There is one lookup for a request; the next request checks its own."""
    inside.answers = ["93.184.215.14", "10.0.0.1"]
    with pytest.raises(SignInFailed, match="url_unreachable"):
        await refresh(tokens(inside), inside.send)
    assert inside.connected == [("93.184.215.14", 443)]
    with pytest.raises(SignInFailed, match="url_address_blocked"):
        await refresh(tokens(inside), inside.send)
    assert inside.connected == [("93.184.215.14", 443)]
