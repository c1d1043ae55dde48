"""Options of a turn, of a session and of its agent: which are taken, what a model cannot have, and which answers have them."""

from typing import Any

import pytest
from rest_framework.test import APIClient

from chat.models import ModelConfig, Run, Session
from chat.turns.request import TurnBody
from tests import factories

SCHEMA = {"type": "object", "properties": {"n": {"maximum": 10**300, "minimum": -1e300}}}
ALL = {
    "temperature": 0.5, "top_p": 1, "max_output_tokens": 100, "stop": ["END"], "seed": -7, "reasoning_effort": "low",
    "response_format": {"type": "json_schema", "json_schema": {"name": "one", "schema": SCHEMA, "strict": True}},
    "parallel_tool_calls": False,
}  # fmt: skip


def send(client: APIClient, session: str, options: Any, status: int = 202) -> Any:
    response = factories.send_turn(client, session, "Why?", options=options)
    assert response.status_code == status, response.json()
    return response.json()


def read_options(client: APIClient, started: Any) -> Any:
    return client.get(f"/api/runs/{started['runs'][0]['id']}/").json()["options"]


def patch(client: APIClient, session: str, **fields: Any) -> Any:
    response = client.patch(f"/api/sessions/{session}/", fields, format="json")
    assert response.status_code == 200, response.json()
    return response.json()


def test_a_run_keeps_every_option_as_it_was_sent(client: APIClient, session: str) -> None:
    assert read_options(client, send(client, session, ALL)) == ALL


@pytest.mark.parametrize(
    ("options", "code", "field"),
    [
        ([], "invalid_type", "options"),
        ({"mood": 1}, "unknown_field", "options.mood"),
        ({"temperature": "0.5"}, "invalid_type", "options.temperature"),
        ({"temperature": True}, "invalid_type", "options.temperature"),
        ({"temperature": -0.1}, "invalid_value", "options.temperature"),
        ({"temperature": 10**400}, "invalid_value", "options.temperature"),
        ({"top_p": 1.01}, "invalid_value", "options.top_p"),
        ({"max_output_tokens": 0}, "invalid_value", "options.max_output_tokens"),
        ({"max_output_tokens": 1e300}, "invalid_value", "options.max_output_tokens"),
        ({"max_output_tokens": 2**31 - 1}, "option_unsupported", "options.max_output_tokens"),
        ({"stop": "END"}, "invalid_type", "options.stop"),
        ({"stop": ["a", "b", "c", "d", "e"]}, "invalid_value", "options.stop"),
        ({"stop": [""]}, "invalid_value", "options.stop.0"),
        ({"seed": 2**63}, "invalid_value", "options.seed"),
        ({"seed": 1.5}, "invalid_type", "options.seed"),
        ({"reasoning_effort": "huge"}, "invalid_value", "options.reasoning_effort"),
        ({"reasoning_effort": {}}, "invalid_type", "options.reasoning_effort"),
        ({"response_format": "json_object"}, "invalid_type", "options.response_format"),
        ({"response_format": {}}, "field_required", "options.response_format.type"),
        (
            {"response_format": {"type": "json_schema"}},
            "field_required",
            "options.response_format.json_schema",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a b", "schema": {}}}},
            "invalid_value",
            "options.response_format.json_schema.name",
        ),
        (
            {"response_format": {"type": "json_schema", "json_schema": {"name": "a", "schema": []}}},
            "invalid_type",
            "options.response_format.json_schema.schema",
        ),
        ({"parallel_tool_calls": 1}, "invalid_type", "options.parallel_tool_calls"),
    ],
)
def test_a_wrong_option_is_refused_with_its_name(
    client: APIClient, session: str, options: Any, code: str, field: str
) -> None:
    refused = send(client, session, options, status=400)
    assert refused["code"] == code
    # Some fields tell the item of a list as well.
    assert refused["field"].startswith(field.removesuffix(".0"))
    body = {"name": "Tides", "prompt": "", "options": {}}
    agent = f"/api/agents/{client.post('/api/agents/', body, format='json').json()['id']}/"
    for method, url in (
        (client.patch, f"/api/sessions/{session}/"),
        (client.post, "/api/agents/"),
        (client.put, agent),
        (client.patch, agent),
    ):
        again = method(
            url, ({} if url.startswith("/api/sessions") else body) | {"options": options}, format="json"
        )
        assert again.status_code == 400 or code == "option_unsupported"
        assert again.status_code != 400 or again.json()["field"].startswith(field.removesuffix(".0"))


@pytest.mark.parametrize(
    "body", ['{"text": "x", "options": {"seed": NaN}}', '{"text": "x", "options": {"top_p": 1e999}}']
)
def test_numbers_that_json_does_not_have_are_refused(client: APIClient, session: str, body: str) -> None:
    response = client.post(f"/api/sessions/{session}/turns/", body, content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (400, "invalid_json")


def test_the_websocket_takes_the_same_options() -> None:
    request = TurnBody.parse({"text": "Why?", "options": {"temperature": 1, "stop": []}})
    assert request.run_options == {"temperature": 1.0, "stop": None}
    assert request.digest() != TurnBody.parse({"text": "Why?"}).digest()


def test_an_option_that_a_model_cannot_have_is_refused_with_the_names_of_both(
    client: APIClient, session: str
) -> None:
    factories.create_model("plain", unsupported_options=["top_p"], supports_tools=False)
    for name, value in (("top_p", 0.5), ("parallel_tool_calls", True)):
        response = factories.send_turn(client, session, "Why?", models=["plain"], options={name: value})
        assert response.status_code == 400
        assert response.json()["field"] == f"options.{name}"
        assert response.json()["message"] == f"plain does not support {name}."
    [plain] = [model for model in client.get("/api/models/").json() if model["name"] == "plain"]
    assert plain["unsupported_options"] == ["parallel_tool_calls", "top_p"]


def test_options_of_a_session_hold_for_its_turns_unless_these_say_otherwise(
    client: APIClient, session: str
) -> None:
    patched = patch(client, session, options={"temperature": 0.5, "seed": 1, "top_p": None})
    assert patched["options"] == {"temperature": 0.5, "seed": 1, "top_p": None}
    started = factories.complete_turn(client, session)
    assert read_options(client, started) == {"temperature": 0.5, "seed": 1}
    other = send(client, session, {"temperature": None, "top_p": 0.25})
    assert read_options(client, other) == {"seed": 1, "top_p": 0.25}


def test_a_later_answer_to_a_question_keeps_its_options(client: APIClient, session: str) -> None:
    patch(client, session, options={"seed": 1})
    started = factories.complete_turn(client, session, options={"temperature": 0.25})
    patch(client, session, options={})
    url = f"/api/messages/{started['user_message']}/regenerations/"
    again = client.post(url, {}, format="json").json()
    assert read_options(client, again) == {"seed": 1, "temperature": 0.25}
    factories.finish_run(again["runs"][0]["id"])
    body = {"replace": {"run": started["runs"][0]["id"]}, "options": {"seed": None}}
    replaced = client.post(url, body, format="json").json()
    assert read_options(client, replaced) == {"temperature": 0.25}


def test_a_session_has_a_prompt_of_its_own(client: APIClient, session: str) -> None:
    assert patch(client, session, prompt="Answer in rhyme.")["prompt"] == "Answer in rhyme."
    assert Session.objects.get(pk=session).own_prompt() == "Answer in rhyme."
    made = client.post(
        "/api/sessions/", {"prompt": "In prose.", "options": {"seed": 3}}, format="json"
    ).json()
    assert (made["prompt"], made["options"]) == ("In prose.", {"seed": 3})


def test_a_default_that_the_model_cannot_have_refuses_the_turn(client: APIClient, session: str) -> None:
    patch(client, session, options={"seed": 1})
    ModelConfig.objects.update(unsupported_options=["seed"])
    assert send(client, session, {}, status=400)["code"] == "option_unsupported"
    assert not Run.objects.exists()


def test_options_of_an_agent_hold_for_its_sessions_unless_these_say_otherwise(client: APIClient) -> None:
    body = {"name": "Tides", "prompt": "", "options": {**ALL, "seed": 1, "temperature": None}}
    agent = client.post("/api/agents/", body, format="json").json()
    assert agent["options"] == {
        name: value for name, value in body["options"].items() if name != "temperature"
    }
    changed = client.patch(f"/api/agents/{agent['id']}/", {"options": {"seed": 1, "top_p": 1}}, format="json")
    assert changed.json()["options"] == {"seed": 1, "top_p": 1}
    session = client.post("/api/sessions/", {"agent": agent["id"]}, format="json").json()
    assert (session["options"], session["has_options"]) == ({}, False)
    started = factories.complete_turn(client, session["id"])
    assert read_options(client, started) == {"seed": 1, "top_p": 1}
    assert patch(client, session["id"], options={"seed": 2, "top_p": None})["options"] == {
        "seed": 2,
        "top_p": None,
    }
    assert read_options(client, factories.complete_turn(client, session["id"])) == {"seed": 2}
    client.delete(f"/api/agents/{agent['id']}/")
    assert read_options(client, send(client, session["id"], {"temperature": 1})) == {
        "seed": 2,
        "temperature": 1,
    }


def test_a_change_of_an_agent_without_options_keeps_them(client: APIClient) -> None:
    body = {"name": "Tides", "prompt": "", "options": {"seed": 1}}
    url = f"/api/agents/{client.post('/api/agents/', body, format='json').json()['id']}/"
    assert client.patch(url, {"name": "Moon"}, format="json").json()["options"] == {"seed": 1}
    assert client.put(url, {"name": "Moon", "prompt": ""}, format="json").json()["options"] == {}
