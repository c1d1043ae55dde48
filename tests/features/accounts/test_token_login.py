"""Logging in, and the lockout after too many wrong passwords."""

from datetime import timedelta
from typing import Any

import pytest
from django.db.models import F
from django.test import Client
from rest_framework.test import APIClient

from chat.models import LoginLimit
from tests import factories

pytestmark = pytest.mark.django_db

PASSWORD = "correct horse"
# The contract: the limit is reached by the tenth wrong try at the latest.
ENOUGH = 10


@pytest.fixture(autouse=True)
def cheap_hashing(settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def alice() -> Any:
    return factories.create_user("alice", PASSWORD, is_staff=True)


def token(name: str = "alice", password: str = PASSWORD, **extra: Any) -> Any:
    body = {"username": name, "password": password}
    return APIClient().post("/api/auth/token/", body, format="json", **extra)


def by_form(path: str) -> Any:
    return lambda password: Client().post(path, {"username": "alice", "password": password})


WAYS = {
    "api": lambda password: token(password=password),
    "page": by_form("/login/"),
    "admin": by_form("/admin/login/"),
}


def test_a_token_lets_in_and_earlier_ones_stay(alice: Any) -> None:
    for given in [token().json()["token"] for _ in range(2)]:
        client = APIClient()
        client.credentials(HTTP_AUTHORIZATION=f"Token {given}")
        assert client.get("/api/models/").status_code == 200


def test_a_name_is_compared_as_the_page_compares_it() -> None:
    factories.create_user("Ren\u00e9", PASSWORD)
    for spelling in ("Ren\u00e9", "Rene\u0301", "\uff32en\u00e9"):
        assert token(spelling).status_code == 200
        assert Client().post("/login/", {"username": spelling, "password": PASSWORD}).status_code == 302


@pytest.mark.parametrize(
    "header", ["Token", "Token x", "Token a b", "Token \xff\xfe", "Bearer x", "Token " + "x" * 5000]
)
def test_a_token_that_is_none_is_refused(alice: Any, header: str) -> None:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=header)
    response = client.get("/api/models/")
    assert (response.status_code, response.json()["code"]) == (401, "not_authenticated")
    assert response["WWW-Authenticate"] == "Token"


def test_an_inactive_user_gets_no_token() -> None:
    factories.create_user("bob", PASSWORD, is_active=False)
    assert token("bob").status_code == 401


@pytest.mark.parametrize("way", WAYS)
def test_wrong_passwords_are_throttled_wherever_they_are_tried(alice: Any, way: str) -> None:
    tries = [WAYS[way](f"wrong {number}") for number in range(ENOUGH)]
    assert tries[0].status_code != 429
    last = tries[-1]
    assert last.status_code == 429
    assert int(last["Retry-After"]) > 0
    if way == "api":
        assert last.json()["code"] == "rate_limited"
    # All doors are closed to this name from this address, the right password included.
    assert {WAYS[other](PASSWORD).status_code for other in WAYS} == {429}


def test_others_at_the_same_address_may_log_in(alice: Any) -> None:
    factories.create_user("bob", PASSWORD)
    for _ in range(ENOUGH):
        token(password="wrong")
    assert token("bob").status_code == 200
    assert token(REMOTE_ADDR="192.0.2.7").status_code == 200


def test_right_passwords_never_count(alice: Any) -> None:
    assert {token().status_code for _ in range(3 * ENOUGH)} == {200}


def test_a_success_forgets_the_failures_before_it(alice: Any) -> None:
    for _ in range(3):
        assert [token(password="wrong").status_code for _ in range(5)] == [401] * 5
        assert token().status_code == 200


def test_the_pause_ends_by_itself(alice: Any) -> None:
    for _ in range(ENOUGH):
        token(password="wrong")
    assert token().status_code == 429
    LoginLimit.objects.update(free_at=F("free_at") - timedelta(minutes=1))
    assert token().status_code == 200
