"""Credentials of MCP servers: whose they are, where they are sent, and who may renew them."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.utils import timezone

from chat.infrastructure.encryption import known_secrets
from chat.models import McpCredential, McpServer, McpSignIn
from chat.models.mcp_sign_in import MAX_SIGN_INS, SignInStatus
from tests import factories

pytestmark = pytest.mark.django_db

ISSUER = "https://auth.example.com"
SECRET = {"access_token": "token-of-the-tides", "refresh_token": "more-of-the-tides"}


def create_server(**fields: Any) -> McpServer:
    return McpServer.objects.create(
        **{"name": "tides", "transport": "http", "url": "https://mcp.example.com/mcp"} | fields
    )


def sign_in(server: McpServer, user: Any) -> McpCredential:
    pending = McpSignIn.objects.begin(user, server, "https://chat.example.com/mcp/callback/")
    return McpCredential.objects.store(pending, ISSUER, SECRET)


def test_tokens_are_encrypted_and_kept_out_of_logs() -> None:
    row = sign_in(create_server(), factories.create_user("alice"))
    with connection.cursor() as cursor:
        cursor.execute("SELECT chat_mcpcredential::text FROM chat_mcpcredential")
        assert SECRET["access_token"] not in cursor.fetchone()[0]
    assert row.secret == SECRET
    assert set(SECRET.values()) <= set(known_secrets())


def test_a_user_has_one_credential_of_a_server_which_another_sign_in_replaces() -> None:
    server, alice = create_server(), factories.create_user("alice")
    before = sign_in(server, alice)
    after = sign_in(server, alice)
    assert McpCredential.objects.get() == after
    assert before != after


def test_calls_are_made_with_the_credential_of_their_user_alone() -> None:
    server = create_server()
    alice, mallory = factories.create_user("alice"), factories.create_user("mallory")
    row = sign_in(server, alice)
    assert list(McpCredential.objects.held_by(alice)) == [row]
    assert not McpCredential.objects.held_by(mallory).exists()


def test_a_shared_credential_is_that_of_all_users() -> None:
    server = create_server(sign_in="shared")
    row = sign_in(server, factories.create_user("root"))
    assert row.user is None
    assert list(McpCredential.objects.held_by(factories.create_user("alice"))) == [row]


@pytest.mark.parametrize(
    "change", [{"url": "https://mallory.example.com/mcp"}, {"sign_in": "shared"}, {"transport": "stdio"}]
)
def test_a_credential_is_of_no_use_to_a_server_that_was_changed(change: dict[str, str]) -> None:
    """The tokens of one address are not sent to another."""
    server, alice = create_server(), factories.create_user("alice")
    sign_in(server, alice)
    server.change(**change)
    assert not McpCredential.objects.held_by(alice).exists()


def test_one_process_alone_renews_a_credential() -> None:
    row = sign_in(create_server(), factories.create_user("alice"))
    assert McpCredential.objects.claim_refresh(row)
    assert not McpCredential.objects.claim_refresh(row)
    assert McpCredential.objects.refreshed(row, SECRET | {"access_token": "next-of-the-tides"}, None)
    assert not McpCredential.objects.refreshed(row, SECRET, None)
    assert McpCredential.objects.get().secret["access_token"] == "next-of-the-tides"


def test_a_process_that_died_while_it_renewed_is_not_waited_for() -> None:
    row = sign_in(create_server(), factories.create_user("alice"))
    assert McpCredential.objects.claim_refresh(row)
    McpCredential.objects.update(refreshing_until=F("refreshing_until") - timedelta(minutes=1))
    assert McpCredential.objects.claim_refresh(row)


def test_a_sign_in_goes_each_step_once() -> None:
    pending = McpSignIn.objects.begin(factories.create_user("alice"), create_server(), "https://a.example/")
    steps = (pending, SignInStatus.PREPARING, SignInStatus.READY)
    assert McpSignIn.objects.move(*steps, address="https://auth.example.com/authorize")
    assert not McpSignIn.objects.move(*steps)


def test_a_sign_in_expires() -> None:
    alice, server = factories.create_user("alice"), create_server()
    pending = McpSignIn.objects.begin(alice, server, "https://a.example/")
    McpSignIn.objects.update(expires_at=timezone.now())
    assert not McpSignIn.objects.move(pending, SignInStatus.PREPARING, SignInStatus.READY)
    McpSignIn.objects.begin(alice, server, "https://a.example/")
    assert not McpSignIn.objects.filter(pk=pending.pk).exists()


def test_the_oldest_sign_in_of_a_user_gives_way() -> None:
    alice, server = factories.create_user("alice"), create_server()
    begun = [McpSignIn.objects.begin(alice, server, "https://a.example/") for _ in range(MAX_SIGN_INS + 1)]
    kept = set(McpSignIn.objects.values_list("pk", flat=True))
    assert len(kept) == MAX_SIGN_INS
    assert begun[-1].pk in kept


def test_both_go_with_their_user_and_with_their_server() -> None:
    server = create_server()
    alice, bob = factories.create_user("alice"), factories.create_user("bob")
    sign_in(server, alice)
    sign_in(server, bob)
    alice.delete()
    assert McpCredential.objects.get().user == bob
    server.delete()
    assert not McpCredential.objects.exists()
    assert not McpSignIn.objects.exists()
