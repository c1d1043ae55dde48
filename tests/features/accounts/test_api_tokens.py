"""API tokens: shown once, listed by their first characters, deleted."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from knox.models import AuthToken
from rest_framework.test import APIClient

from chat.models import Agent, TokenScope
from tests import factories
from web.rest.authentication import TokenAuthentication
from web.socket.authentication import HandshakeCredentials

TOKENS = "/api/auth/tokens/"


def with_token(token: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    return client


def test_a_new_token_authenticates_and_is_shown_once(client: APIClient) -> None:
    created = client.post(TOKENS)
    assert created.status_code == 201
    token = created.json().pop("token")
    assert with_token(token).get("/api/models/").status_code == 200
    (listed,) = client.get(TOKENS).json()
    assert listed.pop("last_used_at") is not None
    assert listed == {
        name: value for name, value in created.json().items() if name not in ("token", "last_used_at")
    }
    assert token.startswith(listed["start"])
    assert len(listed["start"]) < len(token) / 2


def test_a_token_has_the_name_that_its_user_gave_it(client: APIClient) -> None:
    for name, kept in ((" Backup ", " Backup "), ("", "")):
        made = client.post(TOKENS, {"name": name}, format="json").json()
        assert made["name"] == kept
        assert client.get(TOKENS).json()[0]["name"] == kept
    assert client.post(TOKENS, {"name": "x" * 101}, format="json").status_code == 400
    assert "name" in client.post(TOKENS, format="json").json(), "without a body"


def test_a_revoked_token_is_rejected_and_the_others_stay_valid(client: APIClient) -> None:
    first, second = (client.post(TOKENS).json() for _ in range(2))
    assert [row["id"] for row in client.get(TOKENS).json()] == [second["id"], first["id"]]
    assert client.delete(f"{TOKENS}{first['id']}/").status_code == 204
    assert with_token(first["token"]).get("/api/models/").status_code == 401
    assert with_token(second["token"]).get("/api/models/").status_code == 200
    again = client.delete(f"{TOKENS}{first['id']}/")
    assert (again.status_code, again.json()["code"]) == (404, "token_not_found")


def test_a_token_makes_no_other_but_can_end_itself(client: APIClient) -> None:
    created = client.post(TOKENS).json()
    robot = with_token(created["token"])
    refused = robot.post(TOKENS)
    assert (refused.status_code, refused.json()["code"]) == (403, "permission_denied")
    assert robot.delete(f"{TOKENS}{created['id']}/").status_code == 204


def test_mallory_sees_and_ends_only_her_own(client: APIClient) -> None:
    created = client.post(TOKENS).json()
    mallory: Any = factories.api_client(factories.create_user("mallory"))
    assert mallory.get(TOKENS).json() == []
    assert mallory.delete(f"{TOKENS}{created['id']}/").status_code == 404
    assert mallory.delete(f"{TOKENS}nonsense/").json()["code"] == "invalid_id"
    assert client.post(TOKENS, {"label": "x"}, format="json").json()["code"] == "unknown_field"


def test_a_token_for_reading_changes_nothing(client: APIClient, session: str) -> None:
    made = client.post(TOKENS, {"scope": "read"}, format="json").json()
    assert (made["scope"], made["expires_at"]) == ("read", None)
    reader = with_token(made["token"])
    assert reader.get("/api/sessions/").status_code == 200
    refused = [
        reader.post("/api/sessions/", {}, format="json"),
        reader.patch(f"/api/sessions/{session}/", {"title": "Mine"}, format="json"),
        reader.delete(f"/api/sessions/{session}/"),
        factories.send_turn(reader, session),
        reader.delete(f"{TOKENS}{made['id']}/"),
    ]
    assert {(one.status_code, one.json()["code"]) for one in refused} == {(403, "token_read_only")}
    assert client.get(f"/api/sessions/{session}/").json()["title"] != "Mine"


def test_a_token_expires_after_its_days(client: APIClient) -> None:
    made = client.post(TOKENS, {"expires_in_days": 30}, format="json").json()
    assert made["expires_at"][:10] == (timezone.now() + timedelta(days=30)).date().isoformat()
    robot = with_token(made["token"])
    assert robot.get("/api/sessions/").status_code == 200
    assert HandshakeCredentials(token=made["token"]).find_user() is not None
    AuthToken.objects.update(expiry=timezone.now() - timedelta(seconds=1))
    assert robot.get("/api/sessions/").status_code == 401
    assert HandshakeCredentials(token=made["token"]).find_user() is None


@pytest.mark.parametrize(
    "body",
    [
        {"scope": "agent"},
        {"agent": "00000000-0000-0000-0000-000000000000"},
        {"scope": "agent", "agent": "00000000-0000-0000-0000-000000000000"},
        {"tokens_per_day": 0},
        {"cost_per_day": -1},
        {"scope": "admin"},
        {"scope": 1},
        {"expires_in_days": 0},
        {"expires_in_days": "30"},
        {"days": 1},
    ],
)
def test_options_of_a_token_are_checked(client: APIClient, body: dict[str, Any]) -> None:
    assert client.post(TOKENS, body, format="json").status_code in (400, 404)
    assert client.get(TOKENS).json() == []


def test_the_last_use_of_a_token_is_noted_once_in_five_minutes(client: APIClient) -> None:
    robot = with_token(client.post(TOKENS).json()["token"])
    assert client.get(TOKENS).json()[0]["last_used_at"] is None
    robot.get("/api/models/")
    first = TokenScope.objects.get().last_used_at
    robot.get("/api/models/")
    assert TokenScope.objects.get().last_used_at == first
    TokenScope.objects.update(last_used_at=timezone.now() - timedelta(minutes=6))
    robot.get("/api/models/")
    assert (timezone.now() - TokenScope.objects.get().last_used_at) < timedelta(minutes=1)


def test_the_use_of_a_token_without_a_scope_is_noted(alice: Any, client: APIClient) -> None:
    _, token = AuthToken.objects.create(alice)
    with_token(token).get("/api/models/")
    assert client.get(TOKENS).json()[0]["last_used_at"] is not None
    assert client.get(TOKENS).json()[0]["scope"] == "write"


@pytest.mark.parametrize("scope", ["chat", "agent"])
def test_a_token_for_other_programs_is_for_no_route_of_ours(
    client: APIClient, alice: Any, session: str, scope: str
) -> None:
    pilot = Agent.objects.create(owner=alice, name="Pilot")
    agent = {"agent": str(pilot.pk)} if scope == "agent" else {}
    token = client.post(TOKENS, {"scope": scope, **agent}, format="json").json()["token"]
    robot = with_token(token)
    refused = [
        robot.get("/api/sessions/"),
        robot.get(f"/api/sessions/{session}/"),
        robot.get("/api/models/"),
        factories.send_turn(robot, session),
        robot.get(TOKENS),
    ]
    assert {(answer.status_code, answer.json()["code"]) for answer in refused} == {
        (403, "token_out_of_scope")
    }
    assert HandshakeCredentials(token=token).find_user() is None


def test_who_a_token_is_of_and_what_it_may_do_takes_one_query(client: APIClient) -> None:
    token = client.post(TOKENS).json()["token"]
    TokenAuthentication().authenticate_credentials(token.encode())  # notes the use
    with CaptureQueriesContext(connection) as queries:
        user, row = TokenAuthentication().authenticate_credentials(token.encode())
        assert (user.get_username(), row.scope_row.scope) == ("alice", "write")
    assert len(queries) == 1
