"""Errors of DRF, Django, middleware and the database all have the same shape."""

from typing import Any
from unittest import mock

import pytest
from celery import current_app
from django.db import OperationalError, connection
from django.test import Client
from kombu.exceptions import OperationalError as BrokerError
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ReadOnlyError
from rest_framework.test import APIClient

from chat.models import ChatMessage, Session, TokenScope, Turn
from chat.models.session import SessionQuerySet
from tests import factories
from tests.connection_settings import connection_settings
from web.rest.errors import describe

SHAPE = {"code", "message", "request_id"}


@pytest.mark.parametrize("debug", [True, False])
@pytest.mark.parametrize(
    ("method", "path", "headers", "status", "code"),
    [
        pytest.param("get", "/api/nowhere/", {}, 404, "not_found", id="unknown path"),
        pytest.param("post", "/api/nowhere", {}, 404, "not_found", id="no slash, no redirect"),
        pytest.param("get", "/api/models/", {"Host": "evil.example"}, 400, "bad_request", id="foreign host"),
        pytest.param("get", "/api/models/", {}, 401, "not_authenticated", id="no login"),
        pytest.param("put", "/health/live", {}, 405, "method_not_allowed", id="method of a plain view"),
        pytest.param("get", "/health/nothing", {}, 404, "not_found", id="unknown health"),
    ],
)
def test_errors_of_django_have_our_shape(
    db: None,
    settings: Any,
    debug: bool,
    method: str,
    path: str,
    headers: dict[str, str],
    status: int,
    code: str,
) -> None:
    settings.DEBUG = debug
    response = getattr(Client(raise_request_exception=False), method)(path, headers=headers)
    assert response["Content-Type"] == "application/json"
    assert (response.status_code, response.json()["code"]) == (status, code)
    assert set(response.json()) == SHAPE


@pytest.mark.parametrize("debug", [True, False])
def test_an_unexpected_error_is_a_500_without_details(
    alice: Any, session: str, settings: Any, debug: bool
) -> None:
    settings.DEBUG = debug
    settings.MAX_MESSAGE_CHARACTERS = "broken"  # comparing it raises TypeError
    client = APIClient(raise_request_exception=False)
    client.force_authenticate(alice)
    response = factories.send_turn(client, session)
    assert (response.status_code, response.json()["code"]) == (500, "internal_error")
    assert set(response.json()) == SHAPE
    assert not ChatMessage.objects.filter(role="user").exists()


def test_a_browser_without_its_csrf_token_is_refused(alice: Any, session: str) -> None:
    client = APIClient(enforce_csrf_checks=True)
    client.force_login(alice)
    response = factories.send_turn(client, session)
    assert (response.status_code, response.json()["code"]) == (403, "csrf_failed")


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (RedisConnectionError("gone"), 503, "stream_unavailable"),
        (OperationalError("gone"), 503, "unavailable"),
        (RuntimeError("secret"), 500, "internal_error"),
    ],
)
def test_a_missing_service_is_a_503(error: Exception, status: int, code: str) -> None:
    described = describe(error)
    assert (described.status, described.code) == (status, code)
    assert "gone" not in described.message
    assert "secret" not in described.message


@pytest.mark.parametrize(
    ("sent", "kept"),
    [("my-request.1", True), ("", False), ("a b", False), ("x" * 65, False), ("<script>", False)],
)
def test_every_answer_names_its_request(db: None, sent: str, kept: bool) -> None:
    response = Client().get("/health/live", headers={"X-Request-ID": sent})
    assert (response["X-Request-ID"] == sent) is kept
    assert response["X-Request-ID"]


@pytest.mark.django_db(transaction=True)
def test_nothing_is_stored_while_redis_is_away(client: APIClient, session: str, settings: Any) -> None:
    from chat.runs import task_queue

    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    task_queue._fast_failing_client.cache_clear()
    try:
        response = factories.send_turn(client, session)
    finally:
        task_queue._fast_failing_client.cache_clear()
    assert (response.status_code, response.json()["code"]) == (503, "stream_unavailable")
    assert response["Retry-After"]
    assert factories.message_texts(client, session) == []


def test_ready_when_everything_is_there(db: None) -> None:
    response = Client().get("/health/ready")
    expected = {"status": "ok", "postgres": "ok", "redis": "ok", "broker": "ok", "migrations": "ok"}
    assert (response.status_code, response.json()) == (200, expected)


def test_not_ready_without_redis(db: None, settings: Any) -> None:
    from chat.runs import task_queue

    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    task_queue._fast_failing_client.cache_clear()
    try:
        response = Client().get("/health/ready")
    finally:
        task_queue._fast_failing_client.cache_clear()
    assert (response.status_code, response.json()["redis"]) == (503, "unavailable")


@pytest.mark.parametrize("scheme", ["redis", "amqp"])
def test_not_ready_without_the_broker(
    db: None, settings: Any, monkeypatch: pytest.MonkeyPatch, scheme: str
) -> None:
    assert current_app.conf.broker_url, "read at its first use, once for the process: not with what follows"
    url = f"{scheme}://127.0.0.1:1/0"
    settings.CELERY_BROKER_URL = url
    monkeypatch.setenv("CELERY_BROKER_WRITE_URL", url)
    response = Client().get("/health/ready")
    body = response.json()
    assert (response.status_code, body["broker"], body["redis"]) == (503, "unavailable", "ok")


def test_not_ready_while_postgres_accepts_no_writes(client: APIClient, session: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET transaction_read_only = on")
    response = Client().get("/health/ready")
    assert (response.status_code, response.json()["postgres"]) == (503, "read_only")
    refused = factories.send_turn(client, session)
    assert (refused.status_code, refused.json()["code"]) == (503, "unavailable")


def test_not_ready_while_redis_accepts_no_writes(db: None, full_redis: None) -> None:
    body = Client().get("/health/ready").json()
    assert (body["status"], body["redis"]) == ("unavailable", "unavailable")


@pytest.mark.django_db(transaction=True)
def test_nothing_is_stored_while_redis_accepts_no_writes(
    client: APIClient, session: str, full_redis: None
) -> None:
    response = factories.send_turn(client, session)
    assert (response.status_code, response.json()["code"]) == (503, "stream_unavailable")
    assert factories.message_texts(client, session) == []


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/responses", {"model": "quick", "input": "Why?"}),
        ("/v1/chat/completions", {"model": "quick", "messages": [{"role": "user", "content": "Why?"}]}),
        (
            "/agui",
            {"threadId": "t", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "Why?"}]},
        ),
    ],
)
def test_no_other_protocol_stores_a_turn_while_redis_accepts_no_writes(
    session: str, full_redis: None, path: str, body: dict[str, Any]
) -> None:
    _, token = TokenScope.objects.create_token(Session.objects.get(pk=session).owner)
    program = APIClient(headers={"Authorization": f"Bearer {token}"})
    response = program.post(path, body, format="json")
    assert (response.status_code, b"stream_unavailable" in response.content) == (503, True)
    assert not Turn.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("failure", [BrokerError("away"), ReadOnlyError("a replica"), LookupError("a fault")])
def test_a_turn_that_is_stored_is_accepted_whatever_becomes_of_its_message(
    client: APIClient, session: str, monkeypatch: pytest.MonkeyPatch, failure: Exception
) -> None:
    monkeypatch.setattr("chat.runs.task_queue.enqueue", mock.Mock(side_effect=failure))
    assert factories.send_turn(client, session, "Hello?").status_code in (201, 202)
    assert factories.message_texts(client, session) == ["Hello?", ""]


@pytest.mark.django_db
def test_liveness_needs_no_other_service() -> None:
    """A connection that an earlier request has left in the thread is given back all the same."""
    assert Client().get("/health/live").json() == {"status": "ok"}


@pytest.mark.parametrize("probe", ["live", "ready"])
@pytest.mark.parametrize("host", ["10.42.0.7:8000", "no host/at all"])
@pytest.mark.django_db
def test_probes_ask_by_any_address_and_nothing_else_does(probe: str, host: str) -> None:
    client = Client(HTTP_HOST=host)
    statuses = [client.get(path).status_code for path in (f"/health/{probe}", "/health/", "/api/me/")]
    assert statuses == [200, 400, 400]


@pytest.fixture
def slow_statements(transactional_db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The views below ask for more than a statement may take."""

    def sleep(*_: object, **__: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_sleep(600)")

    monkeypatch.setattr(SessionQuerySet, "visible_to", sleep)
    monkeypatch.setattr("web.admin.workers.task_queue.queue_length", sleep)


@pytest.mark.usefixtures("slow_statements")
def test_a_statement_that_takes_too_long_is_a_503_of_the_api() -> None:
    client = factories.api_client(factories.create_user("alice"))
    with connection_settings(statement_timeout="50ms"):
        response = client.get("/api/sessions/")
    assert (response.status_code, response.json()["code"]) == (503, "unavailable")
    assert response["Retry-After"]


@pytest.mark.usefixtures("slow_statements")
def test_a_statement_that_takes_too_long_is_a_page_that_says_so() -> None:
    staff = factories.create_user("bob", is_staff=True, is_superuser=True)
    client = Client(raise_request_exception=False)
    client.force_login(staff)
    with connection_settings(statement_timeout="50ms"):
        response = client.get("/admin/workers/")
    assert response.status_code == 503
    assert response["Retry-After"]
    assert "Too busy at the moment" in response.content.decode()
