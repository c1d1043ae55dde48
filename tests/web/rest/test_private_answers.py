"""What is private is not cached, how the deployment works is for operators, and odd times and cursors are refused."""

from base64 import b64encode
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client
from rest_framework.test import APIClient

from tests import factories
from web.socket.authentication import is_same_origin


@pytest.fixture
def production(settings: Any) -> None:
    settings.DEVELOPMENT = False
    settings.METRICS_TOKEN = "of-the-scraper"


@pytest.mark.parametrize(
    "path",
    [
        "/api/sessions/",
        "/api/models/",
        "/api/usage/",
        "/api/usage/limits/",
        "/api/nothing/",
        "/api/auth/tokens/",
    ],
)
def test_answers_of_the_api_are_not_cached(client: APIClient, path: str) -> None:
    assert client.get(path)["Cache-Control"] == "no-store"


def test_an_export_is_not_cached(client: APIClient, session: str) -> None:
    assert client.get(f"/api/sessions/{session}/export/")["Cache-Control"] == "no-store"


def paths_of_operators() -> list[str]:
    return ["/metrics", "/api/schema/", "/api/docs/", "/api/asyncapi.yaml"]


def test_nobody_but_operators_sees_how_a_deployment_in_production_works(db: None, production: None) -> None:
    anonymous, user, staff = Client(), Client(), Client()
    user.force_login(factories.create_user("somebody"))
    boss = factories.create_user("boss")
    boss.is_staff = True
    boss.save()
    staff.force_login(boss)
    for path in paths_of_operators():
        assert anonymous.get(path).status_code in (401, 403), path
        assert user.get(path).status_code == 403, path
        assert staff.get(path).status_code == 200, path


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ("Bearer of-the-scraper", 200),
        ("Bearer another", 403),
        ("Bearer ", 403),
        ("Token of-the-scraper", 403),
    ],
)
def test_a_scraper_has_a_token_of_its_own(db: None, production: None, sent: str, status: int) -> None:
    assert Client().get("/metrics", headers={"Authorization": sent}).status_code == status


def test_without_a_configured_token_none_is_accepted(db: None, production: None, settings: Any) -> None:
    settings.METRICS_TOKEN = ""
    assert Client().get("/metrics", headers={"Authorization": "Bearer "}).status_code == 403


def test_readiness_has_details_for_operators_only(db: None, production: None) -> None:
    assert Client().get("/health/ready").json() == {"status": "ok"}
    details = Client().get("/health/ready", headers={"Authorization": "Bearer of-the-scraper"}).json()
    assert set(details) == {"status", "postgres", "redis", "broker", "migrations"}


@pytest.mark.parametrize(
    "query",
    [
        {"to": "0001-01-01"},
        {"from": "0001-01-01"},
        {"to": "9999-12-31"},
        {"from": "0001-01-01T00:00:00+14:00", "to": "2026-01-01"},
        {"from": "2026-01-01", "to": "9999-12-31T23:59:59-14:00"},
    ],
)
def test_times_near_the_ends_of_the_calendar_are_refused(client: APIClient, query: dict[str, str]) -> None:
    client.raise_request_exception = False
    answer = client.get("/api/usage/", query)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_value")


@pytest.mark.parametrize(
    "position",
    [
        "0001-01-01T00:00:00+14:00",
        "9999-12-31 23:59:59-14:00",
        "20260101",
        "2026-W01-1",
        "2026-01-01",
        "2026-01-01 00:00:00",
        "2026-01-01T00:00:00,5+00:00",
        "now",
        "",
    ],
)
def test_crafted_cursors_are_refused(client: APIClient, session: str, position: str) -> None:
    client.raise_request_exception = False
    cursor = b64encode(urlencode({"p": position}).encode()).decode()
    answer = client.get("/api/sessions/", {"cursor": cursor})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_pagination")


def test_our_own_cursors_are_accepted(client: APIClient, session: str) -> None:
    client.post("/api/sessions/", {}, format="json")
    first = client.get("/api/sessions/", {"limit": 1}).json()
    assert client.get(first["next"]).status_code == 200


@pytest.mark.parametrize(
    ("origin", "scheme", "has_tls_only", "is_accepted"),
    [
        ("https://localhost", "wss", True, True),
        ("http://localhost", "wss", True, False),
        ("http://localhost", "wss", False, False),
        ("http://localhost", "ws", False, True),
        ("http://localhost", "ws", True, False),
        ("https://localhost", "ws", False, True),
        ("ftp://localhost", "ws", False, False),
    ],
)
def test_a_page_without_tls_opens_no_socket_of_a_site_with_tls(
    settings: Any, origin: str, scheme: str, has_tls_only: bool, is_accepted: bool
) -> None:
    settings.SECURE_SSL_REDIRECT = has_tls_only
    settings.ALLOWED_HOSTS = ["localhost"]
    headers = [(b"host", b"localhost"), (b"origin", origin.encode())]
    assert is_same_origin(headers, scheme) is is_accepted
