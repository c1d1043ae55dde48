"""Changing the password by the API."""

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from rest_framework.test import APIClient

from features.accounts.login_attempt import PER_NAME_AND_ADDRESS
from tests import factories

pytestmark = pytest.mark.django_db

OLD, NEW = "correct horse", "four tides a week"


@pytest.fixture(autouse=True)
def cheap_hashing(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def alice() -> User:
    return factories.create_user("alice", OLD)


def with_token() -> APIClient:
    body = {"username": "alice", "password": OLD}
    client = APIClient()
    token = client.post("/api/auth/token/", body, format="json").json()["token"]
    client.credentials(HTTP_AUTHORIZATION=f"Token {token}")
    return client


def in_browser() -> Client:
    client = Client()
    assert client.login(username="alice", password=OLD)
    return client


def change(client: Client, old: str = OLD, new: str = NEW, **more: Any) -> Any:
    body = {"old_password": old, "new_password": new, **more}
    return client.post("/api/auth/password/", body, "application/json")


def is_logged_in(client: Client) -> bool:
    return client.get("/api/sessions/").status_code == 200


@pytest.mark.usefixtures("alice")
def test_a_browser_stays_logged_in_and_others_do_not() -> None:
    own, other, program = in_browser(), in_browser(), with_token()
    changed = change(own)
    assert (changed.status_code, changed.content) == (204, b"")
    assert [is_logged_in(one) for one in (own, other, program)] == [True, False, True]
    assert Client().login(username="alice", password=NEW)


@pytest.mark.usefixtures("alice")
def test_a_program_may_keep_or_end_tokens_and_gets_no_cookie() -> None:
    first, second, browser = with_token(), with_token(), in_browser()
    body = {"old_password": OLD, "new_password": NEW}
    changed = first.post("/api/auth/password/", body, format="json")
    assert changed.status_code == 204
    assert not changed.cookies
    assert [is_logged_in(one) for one in (first, second, browser)] == [True, True, False]
    again = {"old_password": NEW, "new_password": OLD, "end_tokens": True}
    assert first.post("/api/auth/password/", again, format="json").status_code == 204
    assert not any(is_logged_in(one) for one in (first, second))


def test_a_wrong_or_weak_password_changes_nothing(alice: User) -> None:
    client = in_browser()
    for answer, field in (
        (change(client, old="wrong"), "old_password"),
        (change(client, new="12345678"), "new_password"),
        (change(client, new="alice"), "new_password"),
    ):
        assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (
            400,
            "invalid_value",
            field,
        )
    assert change(client, new="").json()["field"] == "new_password"
    assert change(client, more=1).json()["code"] == "unknown_field"
    alice.refresh_from_db()
    assert alice.check_password(OLD)


@pytest.mark.usefixtures("alice")
def test_guesses_of_the_old_password_are_limited() -> None:
    client = in_browser()
    for _ in range(PER_NAME_AND_ADDRESS[0]):
        assert change(client, old="wrong").status_code == 400
    refused = change(client)
    assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
    assert int(refused["Retry-After"]) > 0


def test_an_account_without_a_password_has_none_to_change(alice: User) -> None:
    alice.set_unusable_password()
    alice.save()
    client = Client()
    client.force_login(alice)
    assert change(client).status_code == 403
