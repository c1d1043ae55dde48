"""Bad input gets one clear error, changes nothing, and is never a 500."""

import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import transaction
from rest_framework.test import APIClient

from chat.models import ChatMessage, Run
from tests import factories

TURNS = "/api/sessions/{session}/turns/"
SESSIONS = "/api/sessions/"
AGENTS = "/api/agents/"
SESSION = "/api/sessions/{session}/"
FEEDBACK = "/api/messages/{answer}/feedback/"
REGENERATIONS = "/api/messages/{question}/regenerations/"
DEEP = b'{"text":' + b"[" * 10_000 + b"]" * 10_000 + b"}"
ABSENT = str(uuid.uuid4())


def agent(**body: Any) -> dict[str, Any]:
    return {"name": "Tides", "prompt": "Be brief.", **body}


def turn(**body: Any) -> dict[str, Any]:
    return {"text": "Hello", **body}


# method, path, body (an object, or bytes as they are), status, code, field
# Postgres knows no time zone as far from UTC.
FAR_AWAY = {
    "format": "turnwire.session", "version": 2,
    "messages": [{"id": 0, "role": "root", "sent_at": "2020-01-01T00:00:00-16:27"}],
}  # fmt: skip
BAD: list[Any] = [
    pytest.param("post", TURNS, turn(text=""), 400, "message_empty", "text", id="empty text"),
    pytest.param("post", TURNS, turn(text=" \n\t\u00a0\u3000"), 400, "message_empty", "text", id="blank text"),
    pytest.param("post", TURNS, turn(text="\u200b\u200d\ufeff\u2060\u00ad"), 400, "message_empty", "text", id="zero-width"),
    pytest.param("post", TURNS, turn(text="x" * 100_001), 413, "message_too_long", "text", id="too long"),
    pytest.param("post", TURNS, turn(text="a\0b"), 400, "invalid_characters", None, id="NUL"),
    pytest.param("post", TURNS, b'{"text":"\\ud800"}', 400, "invalid_characters", None, id="lone surrogate"),
    pytest.param("post", TURNS, b'{"text":"a","\\u0000":1}', 400, "invalid_characters", None, id="NUL in a name"),
    pytest.param("post", TURNS, b'{"text":"\xff"}', 400, "invalid_encoding", None, id="not UTF-8"),
    pytest.param("post", TURNS, b'{"text":"\xed\xa0\x80"}', 400, "invalid_encoding", None, id="UTF-8 surrogate"),
    pytest.param("post", TURNS, b"hello", 400, "invalid_json", None, id="not JSON"),
    pytest.param("post", TURNS, b'{"text":"a"', 400, "invalid_json", None, id="half of it"),
    pytest.param("post", TURNS, b'{"text":NaN}', 400, "invalid_json", None, id="NaN"),
    pytest.param("post", TURNS, b'{"text":-Infinity}', 400, "invalid_json", None, id="Infinity"),
    pytest.param("post", TURNS, b'{"text":-1e400}', 400, "invalid_json", None, id="number beyond a float"),
    pytest.param("post", TURNS, b'{"text":' + b"9" * 5000 + b"}", 400, "invalid_json", None, id="huge number"),
    pytest.param("post", TURNS, b'{"text":"a","text":"b"}', 400, "invalid_json", None, id="a name twice"),
    pytest.param("post", TURNS, DEEP, 400, "json_too_deep", None, id="10,000 levels"),
    pytest.param("post", TURNS, DEEP.replace(b"[" * 9800, b"").replace(b"]" * 9800, b""), 400, "json_too_deep", None, id="200 levels"),
    pytest.param("post", TURNS, b"[1]", 400, "invalid_type", None, id="an array"),
    pytest.param("post", TURNS, b'"text"', 400, "invalid_type", None, id="a string"),
    pytest.param("post", TURNS, b"null", 400, "invalid_type", None, id="null"),
    pytest.param("post", TURNS, {}, 400, "field_required", "text", id="no text"),
    pytest.param("post", TURNS, b"", 400, "field_required", "text", id="no body"),
    pytest.param("post", TURNS, turn(colour="red"), 400, "unknown_field", "colour", id="unknown field"),
    pytest.param("post", TURNS, turn(text=123), 400, "invalid_type", "text", id="text is a number"),
    pytest.param("post", TURNS, turn(text=None), 400, "invalid_type", "text", id="text is null"),
    pytest.param("post", TURNS, turn(text=True), 400, "invalid_type", "text", id="text is true"),
    pytest.param("post", TURNS, turn(text=["a"]), 400, "invalid_type", "text", id="text is a list"),
    pytest.param("post", TURNS, turn(parent="x"), 400, "invalid_id", "parent", id="malformed parent"),
    pytest.param("post", TURNS, turn(parent=7), 400, "invalid_type", "parent", id="parent is a number"),
    pytest.param("post", TURNS, turn(parent=ABSENT), 404, "parent_not_found", "parent", id="absent parent"),
    pytest.param("post", TURNS, turn(parent="{elsewhere}"), 404, "parent_not_found", "parent", id="parent elsewhere"),
    pytest.param("post", TURNS, turn(parent="{question}"), 409, "role_order", "parent", id="parent is a question"),
    pytest.param("post", TURNS, turn(models=[]), 400, "models_invalid", "models", id="no models"),
    pytest.param("post", TURNS, turn(models=None), 400, "models_invalid", "models", id="models null"),
    pytest.param("post", TURNS, turn(models=list("abcde")), 400, "models_invalid", "models", id="five models"),
    pytest.param("post", TURNS, turn(models=["quick", "quick"]), 400, "models_invalid", "models", id="a model twice"),
    pytest.param("post", TURNS, turn(models=["nobody"]), 400, "models_invalid", "models", id="unknown model"),
    pytest.param("post", TURNS, turn(models="quick"), 400, "invalid_type", "models", id="models is a text"),
    pytest.param("post", TURNS, turn(models=[1]), 400, "invalid_type", "models.0", id="a model is a number"),
    pytest.param("post", TURNS, turn(files=[ABSENT]), 404, "file_not_found", "files", id="absent file"),
    pytest.param("post", TURNS, turn(files=["x"]), 400, "invalid_id", "files.0", id="malformed file"),
    pytest.param("post", TURNS, turn(forced_tool="hammer"), 400, "tool_unknown", "forced_tool", id="unknown tool"),
    pytest.param("post", TURNS, turn(client_message_id="x" * 101), 400, "invalid_value", "client_message_id", id="long client_message_id"),
    pytest.param("post", TURNS, turn(client_message_id=""), 400, "invalid_value", "client_message_id", id="empty client_message_id"),
    pytest.param("post", TURNS, turn(additional_context="x" * 8001), 400, "invalid_value", "additional_context", id="long context"),
    pytest.param("post", "/api/sessions/x/turns/", b"broken", 400, "invalid_id", None, id="the path comes before the body"),
    pytest.param("post", f"/api/sessions/{ABSENT}/turns/", b"broken", 404, "session_not_found", None, id="absent session before the body"),
    pytest.param("get", f"/api/sessions/{ABSENT.replace('-', '')}/", None, 400, "invalid_id", None, id="an id without dashes"),
    pytest.param("get", "/api/runs/%00/", None, 400, "invalid_id", None, id="NUL in the path"),
    pytest.param("get", f"/api/runs/{ABSENT}/", None, 404, "run_not_found", None, id="absent run"),
    pytest.param("post", f"/api/turns/{ABSENT}/cancellation/", None, 404, "turn_not_found", None, id="absent turn"),
    pytest.param("post", REGENERATIONS, {"models": []}, 400, "models_invalid", "models", id="regenerate by none"),
    pytest.param("post", REGENERATIONS, {"text": "x"}, 400, "unknown_field", "text", id="regenerate another text"),
    pytest.param("post", "/api/messages/{answer}/regenerations/", {}, 409, "role_order", None, id="regenerate an answer"),
    pytest.param("post", "/api/messages/{root}/selection/", {}, 409, "role_order", None, id="select the root"),
    pytest.param("put", FEEDBACK, {}, 400, "field_required", "is_positive", id="feedback says nothing"),
    pytest.param("put", FEEDBACK, {"is_positive": "true"}, 400, "invalid_type", "is_positive", id="feedback is a text"),
    pytest.param("put", "/api/messages/{question}/feedback/", {"text": "x"}, 409, "role_order", None, id="feedback on a question"),
    pytest.param("put", SESSION + "seen/", {"n": "1"}, 400, "invalid_type", "n", id="seen up to a text"),
    pytest.param("put", SESSION + "seen/", {"n": True}, 400, "invalid_type", "n", id="seen up to true"),
    pytest.param("put", SESSION + "seen/", {"n": -1}, 400, "invalid_value", "n", id="seen up to -1"),
    pytest.param("put", SESSION + "seen/", {"n": 10**30}, 400, "invalid_value", "n", id="seen up to 10^30"),
    pytest.param("post", SESSION + "shares/", {"leaf": "x"}, 400, "invalid_id", "leaf", id="share a malformed leaf"),
    pytest.param("post", SESSION + "shares/", {"leaf": ABSENT}, 404, "message_not_found", "leaf", id="share an absent leaf"),
    pytest.param("post", SESSION + "shares/", {"leaf": "{elsewhere}"}, 404, "message_not_found", "leaf", id="share a leaf elsewhere"),
    pytest.param("post", SESSION + "shares/", {"leaf": "{root}"}, 409, "role_order", "leaf", id="share the root"),
    pytest.param("post", SESSION + "shares/", {"shows_details": "yes"}, 400, "invalid_type", "shows_details", id="share by a text"),
    pytest.param("post", SESSION + "shares/", {"token": "x"}, 400, "unknown_field", "token", id="share by an own token"),
    pytest.param("patch", f"/api/shares/{ABSENT}/", {}, 404, "share_not_found", None, id="absent share"),
    pytest.param("get", SESSION + "export/?as=pdf", None, 400, "invalid_value", "as", id="export as PDF"),
    pytest.param("post", SESSIONS + "import/", {}, 400, "field_required", "format", id="import nothing"),
    pytest.param("post", SESSIONS + "import/", b"[]", 400, "invalid_type", None, id="import a list"),
    pytest.param("post", SESSIONS, {"title": 5}, 400, "invalid_type", "title", id="title is a number"),
    pytest.param("post", SESSIONS, {"title": "x" * 201}, 400, "invalid_value", "title", id="long title"),
    pytest.param("post", SESSIONS, {"while_answering": "panic"}, 400, "invalid_value", "while_answering", id="unknown choice"),
    pytest.param("post", SESSIONS, {"agent": ABSENT}, 404, "agent_not_found", "agent", id="absent agent"),
    pytest.param("post", SESSIONS, {"project": ABSENT}, 404, "project_not_found", "project", id="absent project"),
    pytest.param("post", SESSIONS, {"knowledge_bases": [ABSENT]}, 404, "knowledge_base_not_found", "knowledge_bases", id="absent knowledge base"),
    pytest.param("post", SESSIONS, {"agent": "x"}, 400, "invalid_id", "agent", id="malformed agent"),
    pytest.param("patch", SESSION, {"agent": ABSENT}, 404, "agent_not_found", "agent", id="change to an absent agent"),
    pytest.param("post", AGENTS, {"name": "A"}, 400, "field_required", "prompt", id="agent without prompt"),
    pytest.param("post", AGENTS, agent(name=""), 400, "invalid_value", "name", id="agent without name"),
    pytest.param("post", AGENTS, agent(name=" \n"), 400, "invalid_value", "name", id="agent with a blank name"),
    pytest.param("post", AGENTS, agent(name=7), 400, "invalid_type", "name", id="agent's name is a number"),
    pytest.param("post", AGENTS, agent(prompt="x" * 100_001), 400, "invalid_value", "prompt", id="long prompt"),
    pytest.param("post", AGENTS, agent(colour="red"), 400, "unknown_field", "colour", id="unknown agent field"),
    pytest.param("post", AGENTS, agent(tools=["hammer"]), 400, "tool_unknown", "tools", id="agent with an unknown tool"),
    pytest.param("post", AGENTS, agent(tools="web_search"), 400, "invalid_type", "tools", id="tools is a text"),
    pytest.param("post", AGENTS, agent(tools=[1]), 400, "invalid_type", "tools.0", id="a tool is a number"),
    pytest.param("post", AGENTS, agent(models=["nobody"]), 400, "models_invalid", "models", id="agent with an unknown model"),
    pytest.param("post", AGENTS, agent(models=["quick", "quick"]), 400, "models_invalid", "models", id="agent with a model twice"),
    pytest.param("post", AGENTS, agent(models=None), 400, "models_invalid", "models", id="agent's models null"),
    pytest.param("post", AGENTS, agent(knowledge_bases=[ABSENT]), 404, "knowledge_base_not_found", "knowledge_bases", id="agent with an absent knowledge base"),
    pytest.param("post", AGENTS, agent(context_layout="sideways"), 400, "invalid_value", "context_layout", id="unknown layout"),
    pytest.param("post", AGENTS, agent(replaces_system_prompt="yes"), 400, "invalid_type", "replaces_system_prompt", id="replaces is a text"),
    pytest.param("patch", SESSION, {"id": ABSENT}, 400, "unknown_field", "id", id="change an id"),
    pytest.param("get", SESSIONS + "?limit=-1", None, 400, "invalid_pagination", None, id="page of -1"),
    pytest.param("get", SESSIONS + "?limit=0", None, 400, "invalid_pagination", None, id="page of 0"),
    pytest.param("get", SESSIONS + "?page_size=1000000000", None, 400, "invalid_pagination", None, id="page of 10^9"),
    pytest.param("get", SESSIONS + "?limit=ten", None, 400, "invalid_pagination", None, id="page of ten"),
    pytest.param("get", SESSIONS + "?cursor=%F0%9F", None, 400, "invalid_pagination", None, id="bad cursor"),
    pytest.param("get", SESSIONS + "?cursor=cD1ub3RhZGF0ZQ==", None, 400, "invalid_pagination", None, id="cursor that is no date"),
    pytest.param("get", SESSIONS + "?cursor=cD0yMDIwLTAxLTAxIDAwOjAwOjAwLTE2OjI3", None, 400, "invalid_pagination", None, id="cursor of an unknown time zone"),
    pytest.param("post", SESSIONS + "import/", FAR_AWAY, 400, "invalid_value", "messages.0.sent_at", id="import from an unknown time zone"),
    pytest.param("get", SESSIONS + "?search=%00", None, 400, "invalid_characters", None, id="search for NUL"),
    pytest.param("get", SESSION + "messages/?limit=-1", None, 400, "invalid_pagination", None, id="-1 messages"),
    pytest.param("get", SESSION + "messages/?limit=1000000000", None, 400, "invalid_pagination", None, id="10^9 messages"),
    pytest.param("get", SESSION + "messages/?before=x", None, 400, "invalid_id", "before", id="before nothing"),
    pytest.param("get", SESSION + "messages/?leaf={elsewhere}", None, 404, "message_not_found", "leaf", id="leaf elsewhere"),
    pytest.param("get", "/api/runs/{run}/packets/?after=-1", None, 400, "invalid_cursor", "after", id="after -1"),
    pytest.param("get", "/api/nowhere/", None, 404, "not_found", None, id="unknown path"),
    pytest.param("post", "/api/sessions", {}, 404, "not_found", None, id="no slash"),
    pytest.param("put", SESSIONS, {}, 405, "method_not_allowed", None, id="unknown method"),
    pytest.param("options", SESSION, None, 405, "method_not_allowed", None, id="OPTIONS"),
    pytest.param("post", "/api/auth/token/", {"username": "alice"}, 400, "field_required", "password", id="no password"),
    pytest.param("post", "/api/auth/token/", {"username": "a", "password": "b"}, 401, "invalid_credentials", None, id="wrong password"),
    pytest.param("get", "/api/system-prompt/", None, 403, "permission_denied", None, id="not staff"),
]  # fmt: skip


@pytest.fixture(scope="module")
def stored(django_db_setup: None, django_db_blocker: Any) -> Iterator[tuple[APIClient, dict[str, str]]]:
    """alice, and the ids of a finished turn of hers and of a message in another session. One for all: nothing changes them."""
    with django_db_blocker.unblock(), transaction.atomic():
        factories.create_model("quick", is_default=True)
        client = factories.api_client(factories.create_user("alice"))
        session, other = (client.post(SESSIONS, {}, format="json").json() for _ in range(2))
        started = factories.complete_turn(client, session["id"])
        yield (
            client,
            {
                "session": session["id"],
                "root": client.get(f"/api/sessions/{session['id']}/").json()["root"],
                "question": started["user_message"],
                "answer": started["runs"][0]["message"],
                "run": started["runs"][0]["id"],
                "elsewhere": other["root"],
            },
        )
        transaction.set_rollback(True)


def fill(value: Any, names: dict[str, str]) -> Any:
    for name, pk in names.items():
        value = value.replace("{" + name + "}", pk)
    return value


@pytest.mark.parametrize(("method", "path", "body", "status", "code", "field"), BAD)
def test_bad_input_is_refused(
    stored: tuple[APIClient, dict[str, str]],
    db: None,
    method: str,
    path: str,
    body: Any,
    status: int,
    code: str,
    field: Any,
) -> None:
    client, names = stored
    before = ChatMessage.objects.count(), Run.objects.count()
    data = body if isinstance(body, bytes | None) else fill(json.dumps(body), names).encode()
    sent = {} if data is None else {"data": data, "content_type": "application/json"}
    response = client.generic(method.upper(), fill(path, names), **sent)
    error = response.json()
    assert (response.status_code, error["code"], error.get("field")) == (status, code, field)
    assert error["message"]
    assert error["request_id"] == response["X-Request-ID"]
    assert (ChatMessage.objects.count(), Run.objects.count()) == before
