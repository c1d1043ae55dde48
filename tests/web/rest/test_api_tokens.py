"""API tokens: shown once, listed by their first characters, deleted."""

from typing import Any

from rest_framework.test import APIClient

from tests import factories

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
    assert listed == {name: created.json()[name] for name in ("id", "start", "created_at")}
    assert token.startswith(listed["start"])
    assert len(listed["start"]) < len(token) / 2


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
    assert client.post(TOKENS, {"name": "x"}, format="json").json()["code"] == "unknown_field"
