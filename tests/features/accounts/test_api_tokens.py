"""API tokens: shown once, listed by their first characters, deleted."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from knox.models import AuthToken
from rest_framework.test import APIClient

from tests import factories
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
    assert listed == {
        name: created.json()[name] for name in ("id", "start", "name", "scope", "created_at", "expires_at")
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
    "body", [{"scope": "admin"}, {"scope": 1}, {"expires_in_days": 0}, {"expires_in_days": "30"}, {"days": 1}]
)
def test_options_of_a_token_are_checked(client: APIClient, body: dict[str, Any]) -> None:
    assert client.post(TOKENS, body, format="json").status_code == 400
    assert client.get(TOKENS).json() == []
