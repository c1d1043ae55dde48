"""Signing in over the pages, with a worker and a real authorization server; and calls with tokens that expire or are revoked."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from mcp.shared.auth import OAuthClientInformationFull
from pydantic import AnyUrl

from chat.models import McpCredential, McpRevocation, McpServer, McpSignIn, McpToolList
from chat.protocol.states import Status
from tests import factories
from tests.features.mcp.client.client import TIDE, sign_in
from tests.features.mcp.worker_tasks import revoke_mcp_tokens
from tests.mcp_oauth_server import Issuer
from tests.tool_fixtures import tool_responses

pytestmark = [pytest.mark.e2e]


def test_the_tools_of_a_server_are_usable_once_its_user_has_signed_in(
    harbour: McpServer, runtime: Any, session: Any, answer: Any, upstream: Any, issuer: Issuer
) -> None:
    assert (harbour.status, harbour.tools) == ("needs_sign_in", [])
    assert "You are signed in" in sign_in(runtime, harbour, session.owner)
    listed = McpToolList.objects.get(user=session.owner).tools
    assert (harbour.status, [tool["tool"] for tool in listed]) == ("ready", ["pay", "tide"])
    row = McpCredential.objects.get()
    assert (row.user, row.issuer, row.secret["scope"]) == (session.owner, issuer.iss, "tides")
    assert McpSignIn.objects.get().encrypted_flow == ""
    assert answer(TIDE).status == Status.COMPLETED
    assert tool_responses(upstream.requests[-1]) == ["high at Sole"]


def test_a_token_that_has_expired_is_renewed_in_the_middle_of_a_turn(
    harbour: McpServer, runtime: Any, session: Any, answer: Any, upstream: Any, issuer: Issuer
) -> None:
    sign_in(runtime, harbour, session.owner)
    McpCredential.objects.update(expires_at=timezone.now())
    before = McpCredential.objects.get().secret
    assert answer(TIDE).status == Status.COMPLETED
    assert tool_responses(upstream.requests[-1]) == ["high at Sole"]
    assert issuer.refreshed == 1
    assert McpCredential.objects.get().secret["access_token"] != before["access_token"]


@pytest.mark.parametrize(("error", "credentials"), [("unauthorized_client", 1), ("invalid_grant", 0)])
def test_a_credential_is_deleted_by_the_error_invalid_grant_alone(
    harbour: McpServer,
    runtime: Any,
    session: Any,
    answer: Any,
    upstream: Any,
    issuer: Issuer,
    error: str,
    credentials: int,
) -> None:
    sign_in(runtime, harbour, session.owner)
    McpCredential.objects.update(expires_at=timezone.now())
    issuer.refresh_error = error
    answer(TIDE)
    assert McpCredential.objects.count() == credentials
    if credentials:
        [response] = tool_responses(upstream.requests[-1])
        assert "The server's sign-in was refused (unauthorized_client)." in response


def test_a_token_that_the_server_refuses_is_renewed(
    harbour: McpServer, runtime: Any, session: Any, answer: Any, upstream: Any, issuer: Issuer
) -> None:
    """It was revoked, or the server's clock is another one."""
    sign_in(runtime, harbour, session.owner)
    issuer.access.clear()
    answer(TIDE)
    assert tool_responses(upstream.requests[-1]) == ["high at Sole"]
    assert issuer.refreshed == 1


@pytest.fixture
def registered(harbour: McpServer, issuer: Issuer) -> OAuthClientInformationFull:
    """The client that staff have registered, whose secret workers have in HARBOUR."""
    client = OAuthClientInformationFull(
        client_id="ours",
        client_secret="first",
        token_endpoint_auth_method="client_secret_basic",
        redirect_uris=[AnyUrl("http://testserver/mcp/callback/")],
        scope="tides",
    )
    issuer.clients["ours"] = client
    harbour.change(oauth_issuer=issuer.iss, oauth_client_id="ours", oauth_client_secret="MCP_HARBOUR")
    return client


def test_a_client_that_staff_have_registered_is_the_one_that_calls(
    harbour: McpServer,
    registered: OAuthClientInformationFull,
    runtime: Any,
    session: Any,
    answer: Any,
    upstream: Any,
    issuer: Issuer,
    monkeypatch: Any,
) -> None:
    """Its secret is replaced while users are signed in."""
    assert "is not set up" in sign_in(runtime, harbour, session.owner)
    monkeypatch.setenv("MCP_HARBOUR", "first")
    assert "You are signed in" in sign_in(runtime, harbour, session.owner)
    assert list(issuer.clients) == ["ours"]
    registered.client_secret = "second"
    monkeypatch.setenv("MCP_HARBOUR", "second")
    McpCredential.objects.update(expires_at=timezone.now())
    answer(TIDE)
    assert tool_responses(upstream.requests[-1]) == ["high at Sole"]
    assert issuer.refreshed == 1


def test_a_secret_that_workers_do_not_have_yet_signs_nobody_out(
    harbour: McpServer,
    registered: OAuthClientInformationFull,
    runtime: Any,
    session: Any,
    answer: Any,
    upstream: Any,
    monkeypatch: Any,
) -> None:
    monkeypatch.setenv("MCP_HARBOUR", "first")
    sign_in(runtime, harbour, session.owner)
    registered.client_secret = "second"
    McpCredential.objects.update(expires_at=timezone.now())
    assert answer(TIDE).status == Status.COMPLETED
    assert "does not accept the client" in tool_responses(upstream.requests[-1])[0]
    assert McpCredential.objects.get().refreshing_until is None


def test_what_was_revoked_is_forgotten(
    harbour: McpServer, runtime: Any, session: Any, answer: Any, issuer: Issuer
) -> None:
    sign_in(runtime, harbour, session.owner)
    issuer.revoke()
    assert answer(TIDE).status == Status.WAITING
    assert not McpCredential.objects.exists()


def test_a_user_calls_with_no_token_of_another(
    harbour: McpServer, runtime: Any, session: Any, answer: Any, issuer: Issuer
) -> None:
    sign_in(runtime, harbour, factories.create_user("bob", is_staff=True, is_superuser=True))
    assert harbour.status == "ready"
    assert answer(TIDE).status == Status.WAITING


def test_the_page_says_that_the_issuer_was_another(
    harbour: McpServer, runtime: Any, session: Any, issuer: Issuer
) -> None:
    issuer.iss = "https://mallory.example.com"
    assert "not from the issuer" in sign_in(runtime, harbour, session.owner)
    assert not McpCredential.objects.exists()


def test_the_page_says_that_the_server_is_not_there(
    harbour: McpServer, runtime: Any, session: Any, settings: Any
) -> None:
    settings.URL_ALLOWED_HOSTS = frozenset()
    assert "cannot be reached" in sign_in(runtime, harbour, session.owner)


def sign_out(runtime: Any, server: McpServer, user: User) -> None:
    McpRevocation.objects.all().delete()
    factories.api_client(user).delete(f"/api/mcp-servers/{server.pk}/sign-in/")
    assert not McpCredential.objects.exists()
    pk = str(McpRevocation.objects.get().pk)
    revoke_mcp_tokens(runtime, pk)
    revoke_mcp_tokens(runtime, pk)  # a second delivery
    assert not McpRevocation.objects.exists()


def test_who_signs_out_has_the_tokens_revoked_once_at_their_issuer(
    harbour: McpServer, runtime: Any, session: Any, issuer: Issuer
) -> None:
    sign_in(runtime, harbour, session.owner)
    sign_out(runtime, harbour, session.owner)
    assert issuer.revocations == ["refresh_token True", "access_token True"]
    assert (issuer.access, issuer.refresh) == ({}, {})


def test_who_signs_out_is_signed_out_whatever_the_issuer_does(
    harbour: McpServer, runtime: Any, session: Any, issuer: Issuer, caplog: Any
) -> None:
    sign_in(runtime, harbour, session.owner)
    issuer.revokes = False
    sign_out(runtime, harbour, session.owner)
    assert "tokens of an MCP server are not revoked: The issuer refused it (status 503)." in caplog.text
