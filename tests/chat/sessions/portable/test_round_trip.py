"""Export and import are inverse, an imported session can be continued, and invalid files are refused."""

import json
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import HealthCheck, given, settings
from rest_framework.test import APIClient

from chat.models import Run, Session
from chat.models.run_fields import USAGE
from chat.sessions.portable import format as f
from chat.sessions.portable.exporter import as_json
from chat.sessions.portable.importer import import_session
from chat.transcript.answer_settings import SessionSettings
from tests import factories
from tests.chat.sessions.portable.trees import sessions


def exported(client: APIClient, session: Any, **query: str) -> bytes:
    response = client.get(f"/api/sessions/{session}/export/", query)
    assert response.status_code == 200
    return b"".join(response.streaming_content)


def file_of(client: APIClient, session: Any) -> dict[str, Any]:
    return dict(json.loads(exported(client, session)))


def imported(client: APIClient, file: dict[str, Any]) -> str:
    response = client.post("/api/sessions/import/", file, format="json")
    assert response.status_code == 201, response.json()
    return str(response.json()["id"])


def without_empty(value: Any) -> Any:
    """Without empty members, which a file may contain and an export leaves out."""
    if isinstance(value, dict):
        return {name: without_empty(one) for name, one in value.items() if one not in ("", None, [], {})}
    return [without_empty(one) for one in value] if isinstance(value, list) else value


@given(sessions())
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_tree_survives_a_round_trip(db: None, given: dict[str, Any]) -> None:
    owner = User.objects.get_or_create(username="alice")[0]
    first = json.loads(b"".join(as_json(import_session(owner, given))))
    second = json.loads(b"".join(as_json(import_session(owner, first))))
    assert second == first
    defaults = [
        {"turn_number": 0}, {"turn": 0}, {"tab_index": 0}, {"cycles": 0}, {"status": "completed"},
        {"kind": "text"}, {"retryable": False}, {"while_answering": "enqueue"},
    ]  # fmt: skip
    dropped = {(name, value) for one in defaults for name, value in one.items()}

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            return {
                name: bare(one)
                for name, one in value.items()
                if isinstance(one, (dict, list)) or (name, one) not in dropped
            }
        return [bare(one) for one in value] if isinstance(value, list) else value

    assert without_empty(bare(first)) == without_empty(bare(given))


def test_another_user_imports_the_same_session(client: APIClient, session: str) -> None:
    started = factories.complete_turn(client, session)
    factories.complete_turn(client, session, "Again")
    client.put(
        f"/api/messages/{started['runs'][0]['message']}/feedback/", {"is_positive": True}, format="json"
    )
    file = file_of(client, session)
    bob = factories.api_client(factories.create_user("bob"))
    copy = imported(bob, file)
    assert file_of(bob, copy) == file
    assert (
        factories.message_texts(bob, copy)
        == factories.message_texts(client, session)
        == ["Hello", "About Hello", "Again", "About Again"]
    )
    shapes = [[one.get("model"), one["status"]] for one in bob.get(f"/api/sessions/{copy}/messages/").json()]
    assert shapes == [[None, "completed"], ["quick", "completed"]] * 2
    # It can be continued.
    factories.complete_turn(bob, copy, "And then?")
    assert factories.message_texts(bob, copy)[-1] == "About And then?"


def shape_of_columns(client: APIClient, session: str) -> list[Any]:
    """Of each answer of the branch: column, model and number of attempts of what stands side by side."""
    answers = client.get(f"/api/sessions/{session}/messages/").json()[1::2]
    return [
        sorted((each["column"], each["model"], len(each["attempts"])) for each in [one, *one["alongside"]])
        for one in answers
    ]


def test_columns_and_their_attempts_are_imported(client: APIClient, session: str) -> None:
    compared = factories.complete_turn(client, session, "Compare", models=["quick", "deep"])
    for column in (1, 0, 0):
        replaced = {"run": compared["runs"][column]["id"]}
        path = f"/api/messages/{compared['user_message']}/regenerations/"
        response = client.post(path, {"replace": replaced}, format="json")
        assert response.status_code == 202
        factories.finish_run(response.json()["runs"][0]["id"])
    factories.complete_turn(client, session, "And now?", models=["deep", "quick"])
    first = [(0, "quick", 3), (1, "deep", 2)]
    assert shape_of_columns(client, session) == [first, [(0, "deep", 1), (1, "quick", 1)]]
    copy = imported(client, file_of(client, session))
    assert shape_of_columns(client, copy) == shape_of_columns(client, session)


def test_attempts_at_a_deleted_answer_are_imported(client: APIClient, session: str) -> None:
    started = factories.complete_turn(client, session)
    path = f"/api/messages/{started['user_message']}/regenerations/"
    for _ in range(2):
        run = client.post(path, {"replace": {"run": started["runs"][0]["id"]}}, format="json").json()["runs"][
            0
        ]
        factories.finish_run(run["id"])
    assert client.delete(f"/api/messages/{started['runs'][0]['message']}/").status_code == 200
    copy = imported(client, file_of(client, session))
    assert [
        message["run"].get("origin") for message in file_of(client, copy)["messages"] if "run" in message
    ] == [None, 0]
    assert factories.message_texts(client, copy) == factories.message_texts(client, session)


@pytest.mark.parametrize("origin", [0, 1, 5])
def test_a_retry_without_the_turn_it_belongs_to_is_refused(client: APIClient, origin: int) -> None:
    """Its own turn, a later one, and none at all."""
    file = long_file(2)
    file["messages"][2]["run"]["origin"] = origin
    response = client.post("/api/sessions/import/", file, format="json")
    assert (response.status_code, response.json()["field"]) == (400, "messages.2.run.origin")


def test_runs_in_progress_are_imported_as_stopped(client: APIClient, session: str) -> None:
    run = Run.objects.get(pk=factories.send_turn(client, session).json()["runs"][0]["id"])
    assert file_of(client, session)["messages"][2]["run"]["status"] == "queued"
    copy = imported(client, file_of(client, session))
    found = Run.objects.get(turn__session=copy)
    assert (run.is_live, found.is_live, found.status) == (True, False, "stopped")
    assert not client.get(f"/api/sessions/{copy}/").json()["is_answering"]
    packets = client.get(f"/api/runs/{found.pk}/packets/").json()
    assert (packets["complete"], packets["packets"][-1]["obj"]["stop_reason"]) == (True, "user_cancelled")


def test_imported_usage_is_shown_and_not_counted(client: APIClient, session: str) -> None:
    factories.complete_turn(client, session)
    Run.objects.update(**dict.fromkeys(USAGE, 7))
    file = file_of(client, session)
    bob = factories.api_client(factories.create_user("bob"))
    copy = imported(bob, file)
    assert bob.get("/api/usage/").json() == []
    run = Run.objects.get(turn__session=copy)
    assert bob.get(f"/api/runs/{run.pk}/").json()["usage"] == dict.fromkeys(USAGE, 7)


def long_file(messages: int) -> dict[str, Any]:
    """A conversation of so many messages."""
    moment = "2026-03-01T12:00:00Z"
    file: list[dict[str, Any]] = [{"id": 0, "role": "root", "sent_at": moment, "latest_child": 1}]
    for number in range(1, messages + 1):
        one: dict[str, Any] = {
            "id": number,
            "parent": number - 1,
            "sent_at": moment,
            "text": f"Line {number}",
        }
        if number < messages:
            one["latest_child"] = number + 1
        if number % 2:
            file.append(one | {"role": "user"})
        else:
            file.append(one | {"role": "assistant", "run": {"model": "quick", "created_at": moment}})
    return {"format": f.NAME, "version": f.VERSION, "title": "Long", "messages": file}


SETTINGS = {
    "tools": ["web_search"],
    "reminder": "Be brief.",
    "prompt": "In rhyme.",
    "options": {
        "temperature": 0.5,
        "seed": None,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "tide", "schema": {"type": "object", "maximum": 2**60}},
        },
    },
}


def test_another_user_imports_the_settings_of_a_session(client: APIClient, session: str) -> None:
    client.patch(f"/api/sessions/{session}/", SETTINGS | {"while_answering": "interrupt"}, format="json")
    Session.objects.get(pk=session).change(knowledge_bases=[uuid4()])
    file = file_of(client, session)
    assert (file["version"], file["while_answering"], file["settings"]) == (6, "interrupt", SETTINGS)
    bob = factories.api_client(factories.create_user("bob"))
    copy = bob.get(f"/api/sessions/{imported(bob, file)}/").json()
    assert {name: copy[name] for name in SETTINGS} == SETTINGS
    assert (copy["while_answering"], copy["knowledge_bases"]) == ("interrupt", [])


def test_a_session_without_settings_is_exported_for_older_releases(client: APIClient, session: str) -> None:
    client.patch(f"/api/sessions/{session}/", {"while_answering": "reject"}, format="json")
    file = file_of(client, session)
    assert file["version"] == 2
    assert "settings" not in file


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        pytest.param({"mood": "calm", "prompt": "In rhyme."}, {"prompt": "In rhyme."}, id="of a later release"),
        pytest.param({"prompt": "x" * 100_001, "reminder": 7}, {}, id="texts that are too long or no texts"),
        pytest.param({"knowledge_bases": [str(uuid4())]}, {}, id="knowledge bases"),
        pytest.param(
            {"tools": ["telepathy", 7, "gone__tool", "web_search", "web_search"]}, {"tools": ["web_search"]}, id="tools"
        ),
        pytest.param({"tools": "web_search"}, {}, id="tools that are no list"),
        pytest.param(
            {"options": {"temperature": 9, "seed": 4, "mood": "calm", "response_format": {"type": "json_schema"}}},
            {"options": {"seed": 4}},
            id="options",
        ),
        pytest.param({"options": [1]}, {}, id="options that are no object"),
    ],
)  # fmt: skip
def test_settings_that_a_request_would_not_set_are_left_out(
    client: APIClient, settings: dict[str, Any], expected: dict[str, Any]
) -> None:
    session = imported(client, long_file(2) | {"settings": settings})
    stored = Session.objects.get(pk=session).settings
    assert stored == SessionSettings(**expected)
    assert [message["text"] for message in client.get(f"/api/sessions/{session}/messages/").json()] == [
        "Line 1",
        "Line 2",
    ]


@pytest.mark.parametrize("version", range(1, 7))
def test_a_file_of_any_version_without_settings_gives_a_session_without_settings(
    client: APIClient, version: int
) -> None:
    session = imported(client, long_file(2) | {"version": version, "while_answering": "reject"})
    assert Session.objects.get(pk=session).settings == SessionSettings(while_answering="reject")


def test_a_thousand_messages_cost_few_queries(client: APIClient) -> None:
    with CaptureQueriesContext(connection) as storing:
        session = imported(client, long_file(1000))
    with CaptureQueriesContext(connection) as writing:
        assert len(file_of(client, session)["messages"]) == 1001
    assert len(storing) < 25
    assert len(writing) <= 60


def test_markdown_has_the_current_branch_or_all_branches(client: APIClient, session: str) -> None:
    client.patch(f"/api/sessions/{session}/", {"title": "Tides\n# and moons"}, format="json")
    factories.complete_turn(client, session, "```\nunclosed")
    factories.complete_turn(client, session, "Another", parent=None)
    branch, whole = (exported(client, session, **{"as": "markdown", "whole": one}).decode() for one in "01")
    assert branch.startswith("# Tides # and moons\n")
    assert "## You" in branch
    assert "## quick" in branch
    assert "About Another" in branch
    assert "unclosed" not in branch
    assert "About Another" in whole
    assert "```\nunclosed\n```" in whole


def test_the_file_is_named_after_the_title(client: APIClient, session: str) -> None:
    client.patch(f"/api/sessions/{session}/", {"title": 'Ebbe "und" Flut/…'}, format="json")
    for kind, ending in (("json", "json"), ("markdown", "md")):
        response = client.get(f"/api/sessions/{session}/export/", {"as": kind})
        assert 'attachment; filename="ebbe-und-flut-2' in response["Content-Disposition"]
        assert response["Content-Disposition"].endswith(f'.{ending}"')
        list(response.streaming_content)


@pytest.mark.parametrize(
    ("query", "field"), [({"as": "pdf"}, "as"), ({"as": "markdown", "whole": "yes"}, "whole")]
)
def test_unknown_kinds_are_refused(
    client: APIClient, session: str, query: dict[str, str], field: str
) -> None:
    response = client.get(f"/api/sessions/{session}/export/", query)
    assert (response.status_code, response.json()["code"], response.json()["field"]) == (
        400, "invalid_value", field,
    )  # fmt: skip


def change(file: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """`file` with the member at `path` set, or removed if the value is `...`."""
    *above, name = path.split(".")
    here: Any = file
    for one in above:
        here = here[int(one)] if isinstance(here, list) else here.setdefault(one, {})
    place: Any = int(name) if isinstance(here, list) else name
    if value is ...:
        del here[place]
    elif isinstance(here, list) and place == len(here):
        here.append(value)
    else:
        here[place] = value
    return file


MOMENT = "2026-03-01T12:00:00Z"
CALL = {"tool_call_id": "c", "name": "web_search", "turn_number": 0}


def nested(depth: int) -> dict[str, Any]:
    return CALL | ({"children": [nested(depth - 1)]} if depth > 1 else {})


SUMMARY = {"id": 4, "role": "summary", "parent": 1, "sent_at": MOMENT}
# path, value, code, field (None: the path)
BAD: list[Any] = [
    ("format", "other", "invalid_value", None),
    ("version", 7, "invalid_value", None),
    ("messages", ..., "field_required", None),
    ("messages", [], "invalid_value", "messages.0.role"),
    ("messages", {}, "invalid_type", None),
    ("colour", "red", "unknown_field", None),
    ("title", 7, "invalid_type", None),
    ("title", "x" * 201, "invalid_value", None),
    ("while_answering", "panic", "invalid_value", None),
    ("messages.1", 7, "invalid_type", None),
    ("messages.1.colour", "red", "unknown_field", None),
    ("messages.1.text", None, "invalid_type", None),
    ("messages.1.sent_at", "yesterday", "invalid_value", None),
    ("messages.1.sent_at", "2026-03-01T12:00:00", "invalid_value", None),
    ("messages.1.sent_at", "9999-12-31T23:59:59Z", "invalid_value", None),
    ("messages.1.sent_at", "0001-01-01T00:00:00+14:00", "invalid_value", None),
    ("messages.1.id", 5, "invalid_value", None),
    ("messages.1.id", True, "invalid_type", None),
    ("messages.1.parent", 1, "invalid_value", None),
    ("messages.1.parent", 99, "invalid_value", None),
    ("messages.1.parent", -1, "invalid_value", None),
    ("messages.1.role", "assistant", "invalid_value", None),
    ("messages.1.role", "root", "invalid_value", None),
    ("messages.1.role", "wizard", "invalid_value", None),
    ("messages.1.run", {"model": "m", "created_at": MOMENT}, "invalid_value", None),
    ("messages.1.latest_child", 1, "invalid_value", None),
    ("messages.1.latest_child", 99, "invalid_value", None),
    ("messages.1.last_summarized_message", 0, "invalid_value", None),
    ("messages.2.files", [{"name": "a.txt"}], "invalid_value", None),
    ("messages.2.additional_context", "It rains.", "invalid_value", None),
    ("messages.1.additional_context", "x" * 100_001, "invalid_value", None),
    ("messages.1.files", [{"name": ""}], "invalid_value", "messages.1.files.0.name"),
    ("messages.1.files", [{"name": "a", "number": 1}, {"name": "b", "number": 1}], "invalid_value", None),
    ("messages.2.run.status", "dreaming", "invalid_value", None),
    ("messages.2.run.error", {"code": "x"}, "invalid_value", None),
    ("messages.2.run.model", ..., "field_required", None),
    ("messages.2.run.model_index", 2**40, "invalid_value", None),
    ("messages.2.run.usage", {"cost": "-1"}, "invalid_value", "messages.2.run.usage.cost"),
    ("messages.2.run.ended_at", "2999-01-01T00:00:00Z", "invalid_value", None),
    ("messages.2.feedback", {}, "invalid_value", None),
    ("messages.2.citations", [{"number": 0, "document_id": "d"}], "invalid_value", "messages.2.citations.0.number"),
    ("messages.2.citations", [{"number": 1, "document_id": "d"}] * 2, "invalid_value", None),
    ("messages.2.citations", [{"number": n + 1, "document_id": "d"} for n in range(f.MAX_CITATIONS + 1)], "invalid_value", None),
    ("messages.1.files", [{"name": "a.txt"}] * (f.MAX_FILES + 1), "invalid_value", None),
    ("messages.1.text", "x" * (f.MAX_TEXT + 1), "invalid_value", None),
    ("messages.2.tool_calls", [CALL | {"tab_index": n} for n in range(f.MAX_CALLS + 1)], "invalid_value", None),
    ("messages.2.tool_calls", [CALL | {"documents": [{"number": 1, "document_id": "d"}] * (f.MAX_DOCUMENTS + 1)}], "invalid_value", "messages.2.tool_calls.0.documents"),
    ("messages.2.tool_calls", [nested(f.MAX_NESTING + 1)], "invalid_value", "messages.2.tool_calls" + ".0.children" * f.MAX_NESTING),
    ("messages.2.tool_calls", [CALL, CALL], "invalid_value", None),
    ("messages.2.tool_calls", [CALL | {"children": [CALL, CALL]}], "invalid_value", "messages.2.tool_calls.0.children"),
    ("messages.2.tool_calls", [CALL | {"documents": [{"number": "x"}]}], "invalid_type", "messages.2.tool_calls.0.documents.0.number"),
    ("messages.4", SUMMARY, "invalid_value", "messages.4.last_summarized_message"),
    ("messages.4", SUMMARY | {"last_summarized_message": 3}, "invalid_value", "messages.4.last_summarized_message"),
    ("messages.4", SUMMARY | {"last_summarized_message": 0}, "invalid_value", "messages.4.last_summarized_message"),
    ("messages.3", SUMMARY | {"id": 3}, "invalid_value", "messages.2.latest_child"),
]  # fmt: skip


@pytest.mark.parametrize(("path", "value", "code", "field"), BAD)
def test_an_invalid_file_is_refused_with_its_path_and_stores_nothing(
    client: APIClient, path: str, value: Any, code: str, field: str | None
) -> None:
    file = long_file(3)
    response = client.post("/api/sessions/import/", change(file, path, value), format="json")
    answer = response.json()
    assert (response.status_code, answer["code"], answer.get("field")) == (400, code, field or path)
    assert not Session.objects.exists()


def test_a_file_over_the_limit_is_refused(client: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("features.transfer.api.SessionFileParser.max_bytes", 100)
    response = client.post("/api/sessions/import/", long_file(3), format="json")
    assert (response.status_code, response.json()["code"]) == (413, "body_too_large")


def chain(messages: int) -> dict[str, Any]:
    """A file with one branch of this many messages below the root."""
    roles = ("assistant", "user")
    listed: list[dict[str, Any]] = [{"id": 0, "role": "root", "sent_at": MOMENT}]
    listed += [
        {"id": n, "role": roles[n % 2], "parent": n - 1, "sent_at": MOMENT} for n in range(1, messages + 1)
    ]
    return {"format": f.NAME, "version": f.VERSION, "messages": listed}


def test_a_branch_has_a_longest_length(client: APIClient) -> None:
    response = client.post("/api/sessions/import/", chain(f.MAX_PATH + 1), format="json")
    assert (response.status_code, response.json()["field"]) == (400, f"messages.{f.MAX_PATH + 1}.parent")
    assert imported(client, chain(f.MAX_PATH))


def test_files_and_calls_of_all_messages_are_limited(client: APIClient) -> None:
    many = [{"name": "a.txt"}] * f.MAX_FILES
    file = chain(4 * f.MAX_ALL_FILES // f.MAX_FILES)
    for message in file["messages"][1::2]:
        message["files"] = many
    response = client.post("/api/sessions/import/", file, format="json")
    first_too_many = 2 * (f.MAX_ALL_FILES // f.MAX_FILES) + 1
    assert (response.status_code, response.json()["field"]) == (400, f"messages.{first_too_many}.files")


def test_a_file_of_too_many_values_is_refused_before_it_is_decoded(client: APIClient) -> None:
    body = b'{"messages": [' + b"[]," * 600_000 + b"[]]}"
    response = client.post("/api/sessions/import/", body, content_type="application/json")
    assert (response.status_code, response.json()["code"]) == (413, "body_too_large")


def test_a_session_that_ends_with_a_question_is_continued_by_answering_it(client: APIClient) -> None:
    session = imported(
        client,
        chain(1) | {"messages": [chain(1)["messages"][0] | {"latest_child": 1}, chain(1)["messages"][1]]},
    )
    refused = factories.send_turn(client, session, "And then?")
    assert (refused.status_code, refused.json()["code"]) == (409, "role_order")
    (question,) = client.get(f"/api/sessions/{session}/messages/").json()
    assert client.post(f"/api/messages/{question['id']}/regenerations/", {}, format="json").status_code == 202
