"""Bodies that are long, in chunks, of another type or about something that is being answered."""

import json

from asgiref.testing import ApplicationCommunicator
from django.core.asgi import get_asgi_application
from rest_framework.test import APIClient

from tests import factories


def test_too_long_says_how_long(client: APIClient, session: str) -> None:
    error = factories.send_turn(client, session, "é" * 100_002).json()
    assert (error["limit"], error["size"]) == (100_000, 100_002)


def test_the_longest_message_is_accepted_however_it_is_escaped(client: APIClient, session: str) -> None:
    text = "\U0001f600" * 100_000
    body = json.dumps({"text": text}, ensure_ascii=True)
    response = client.post(f"/api/sessions/{session}/turns/", body, content_type="application/json")
    assert response.status_code == 202
    assert factories.message_texts(client, session)[0] == text


def test_a_body_without_end_is_refused(client: APIClient, session: str) -> None:
    body = b'{"text":"' + b"x" * 9_000_000 + b'"}'
    response = client.post(f"/api/sessions/{session}/turns/", body, content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (413, "body_too_large")


def test_another_media_type_is_refused(client: APIClient, session: str) -> None:
    response = client.post(
        f"/api/sessions/{session}/turns/", "text=hello", content_type="application/x-www-form-urlencoded"
    )
    assert (response.status_code, response.json()["code"]) == (415, "unsupported_media_type")


def test_a_bad_idempotency_key_is_refused(client: APIClient, session: str) -> None:
    response = client.post(
        f"/api/sessions/{session}/turns/",
        {"text": "a"},
        format="json",
        headers={"Idempotency-Key": "x" * 101},
    )
    assert response.json()["code"] == "invalid_value"


def test_an_explicit_parent_that_is_being_answered_is_refused(client: APIClient, session: str) -> None:
    started = factories.send_turn(client, session).json()
    response = factories.send_turn(client, session, parent=started["runs"][0]["message"])
    assert (response.status_code, response.json()["code"]) == (409, "parent_in_progress")


def test_without_any_model_nothing_is_stored(client: APIClient, session: str) -> None:
    from chat.models import ModelConfig

    ModelConfig.objects.update(enabled=False)
    assert factories.send_turn(client, session).json()["code"] == "models_invalid"
    assert factories.message_texts(client, session) == []


async def test_a_body_in_chunks_is_read(db: None) -> None:
    """A request body without a length, as the server receives a chunked one."""
    app = ApplicationCommunicator(
        get_asgi_application(),
        {
            "type": "http",
            "method": "POST",
            "path": "/api/auth/token/",
            "query_string": b"",
            "headers": [
                (b"host", b"localhost"),
                (b"content-type", b"application/json"),
                (b"transfer-encoding", b"chunked"),
            ],
        },
    )
    for chunk in (b'{"user', b'name":"alice"}'):
        await app.send_input({"type": "http.request", "body": chunk, "more_body": True})
    await app.send_input({"type": "http.request", "body": b"", "more_body": False})
    assert (await app.receive_output(30))["status"] == 400
    error = json.loads((await app.receive_output(30))["body"])
    await app.wait(30)
    assert (error["code"], error["field"]) == ("field_required", "password")
