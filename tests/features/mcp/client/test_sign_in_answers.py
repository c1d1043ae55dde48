"""Sign-ins with issuers that answer in other forms than the specification has: tokens, errors, metadata and redirects."""

from datetime import UTC, datetime
from typing import Any

import httpx2
import pytest

from features.mcp.client.oauth import SignInFailed, Visit, begin
from features.mcp.client.oauth_tokens import ClientForgotten, Grant, SignInRefused, exchange, refresh
from tests.features.mcp.client.test_oauth_metadata import (
    CALLBACK,
    FOUND,
    ISSUER,
    METADATA,
    ORIGIN,
    Answers,
    Scripted,
    begin_with,
)

# The SDK takes half a second to import.
pytestmark = [pytest.mark.pure, pytest.mark.slow]

PLACE = f"{ISSUER}/.well-known/oauth-authorization-server"
FORM = {"content-type": "application/x-www-form-urlencoded; charset=utf-8"}


async def exchanged(response: httpx2.Response) -> Grant:
    _, flow = await begin_with({})
    return await exchange(flow, "code", None, Scripted({f"{ISSUER}/token": lambda _: response}).send)


async def refreshed(response: httpx2.Response) -> Grant:
    grant = await exchanged(httpx2.Response(200, json={"access_token": "t", "refresh_token": "r"}))
    return await refresh(grant.secret, Scripted({f"{ISSUER}/token": lambda _: response}).send)


@pytest.mark.parametrize(
    "response",
    [
        httpx2.Response(200, content=b"access_token=t&scope=read%20write&token_type=bearer&expires_in=600", headers=FORM),
        httpx2.Response(200, json={"access_token": "t", "scope": ["read", "write"], "expires_in": 600.9, "refresh_token": ""}),
        httpx2.Response(200, json={"access_token": "t", "scope": "read write", "expires_in": "600", "refresh_token": None}),
    ],
    ids=["a form", "a list and a fraction", "texts"],
)  # fmt: skip
async def test_tokens_are_read_in_whatever_form_they_come(response):
    grant = await exchanged(response)
    assert (grant.secret.access_token, grant.secret.scope, grant.secret.refresh_token) == (
        "t",
        "read write",
        None,
    )
    assert grant.expires_at is not None
    assert 590 < (grant.expires_at - datetime.now(UTC)).total_seconds() <= 600


async def test_a_life_that_is_no_number_is_not_known() -> None:
    assert (
        await exchanged(httpx2.Response(200, json={"access_token": "t", "expires_in": "soon"}))
    ).expires_at is None


@pytest.mark.parametrize("status", [200, 400, 401, 403])
async def test_the_error_invalid_grant_alone_ends_a_sign_in(status):
    with pytest.raises(SignInRefused):
        await refreshed(httpx2.Response(status, json={"error": "invalid_grant"}))


@pytest.mark.parametrize(
    ("response", "problem"),
    [
        (httpx2.Response(400, json={"error": "invalid_request"}), r"refused \(invalid_request\)"),
        (httpx2.Response(200, content=b"error=bad_refresh_token&error_description=x", headers=FORM), r"refused \(bad_refresh_token\)"),
        (httpx2.Response(403, text="<h1>Blocked</h1>"), r"refused \(status 403\)"),
        (httpx2.Response(400, json={"error": "<script>"}), r"refused \(status 400\)"),
        (httpx2.Response(429, json={"error": "invalid_grant"}), "not available"),
        (httpx2.Response(302, headers={"location": "/v2/token?a=b"}), rf"{ISSUER}/token redirects to {ISSUER}/v2/token\."),
    ],
)  # fmt: skip
async def test_whatever_else_an_issuer_says_ends_none(response, problem):
    with pytest.raises(SignInFailed, match=problem) as failed:
        await refreshed(response)
    assert not isinstance(failed.value, SignInRefused)
    assert not failed.value.needs_sign_in


async def test_a_client_that_the_issuer_has_forgotten_is_registered_anew_by_the_next_sign_in() -> None:
    with pytest.raises(ClientForgotten) as failed:
        await refreshed(httpx2.Response(401, json={"error": "invalid_client"}))
    assert failed.value.needs_sign_in


async def test_each_request_of_a_sign_in_asks_for_json() -> None:
    asked: list[str] = []
    scripted = Scripted(FOUND | {f"{ISSUER}/token": {"access_token": "t"}})

    async def send(request: httpx2.Request) -> httpx2.Response:
        asked.append(request.headers.get("accept", ""))
        return await scripted.send(request)

    _, flow = await begin(Visit(f"{ORIGIN}/mcp", CALLBACK, "s"), send)
    await exchange(flow, "code", None, send)
    assert len(asked) >= 5
    assert all("application/json" in accepted for accepted in asked)


async def test_members_that_are_empty_are_absent() -> None:
    empty = {"jwks_uri": "", "scopes_supported": None, "revocation_endpoint": "", "service_documentation": ""}
    registered = {"client_id": "our-client", "client_secret": "", "client_uri": "", "scope": ""}
    _, flow = await begin_with({PLACE: METADATA | empty, f"{ISSUER}/register": registered})
    assert (flow.client.client_id, flow.client.client_secret) == ("our-client", None)


@pytest.mark.parametrize("methods", [None, ["plain"], []])
async def test_an_issuer_that_does_not_list_s256_is_signed_in_to_if_staff_say_that_it_takes_it(methods):
    answers: Answers = {PLACE: METADATA | {"code_challenge_methods_supported": methods}}
    with pytest.raises(SignInFailed, match="PKCE"):
        await begin_with(answers)
    address, _ = await begin_with(answers, assumes_pkce=True)
    assert "code_challenge_method=S256" in address


async def test_a_sign_in_that_fails_names_the_redirect() -> None:
    def redirect(_: Any) -> httpx2.Response:
        return httpx2.Response(302, headers={"location": "https://id.example.com/meta?key=s3cret"})

    with pytest.raises(SignInFailed, match=rf"{PLACE} redirects to https://id\.example\.com/meta\.$"):
        await begin_with({PLACE: redirect})
