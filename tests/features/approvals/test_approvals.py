"""Deciding about tool calls by REST and socket: whose they are, what is accepted, and what a decision starts."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now
from django.test import Client
from django.urls import reverse
from msgspec import to_builtins
from rest_framework.test import APIClient

from chat.models import Approval, McpServer, Run, Session, ToolCall
from chat.models.tool_call import ToolCallStatus
from chat.protocol.errors import ApiError
from chat.protocol.states import Status
from chat.transcript.questions import AnyQuestion, Question, SignInQuestion, read_form
from tests import factories
from web.socket.commands import ApproveCommand
from web.socket.handlers import approve

pytestmark = pytest.mark.django_db(transaction=True)

PARAMETERS = {
    "type": "object",
    "properties": {"what": {"type": "string"}},
    "required": ["what"],
    "additionalProperties": False,
}


def waiting_call(client: APIClient, session: str, calls: int = 1) -> list[str]:
    """The rows of the calls that a run of this session waits for."""
    run = Run.objects.get(pk=factories.send_turn(client, session, "Go").json()["runs"][0]["id"])
    rows = [factories.create_waiting_call(run, PARAMETERS, {"what": "this"}, tab=tab) for tab in range(calls)]
    Run.objects.filter(pk=run.pk).update(status=Status.WAITING, queued_at=Now())
    return [str(row.pk) for row in rows]


CITY = read_form(
    {
        "type": "object",
        "properties": {"city": {"type": "string", "enum": ["Berlin", "Paris"]}, "why": {"type": "string"}},
        "required": ["city"],
    }
)
TRIP = Question("For the trip.", CITY)


def waiting_question(client: APIClient, session: str, asked: AnyQuestion = TRIP) -> str:
    """The row of the call that a run of this session waits for the answer of."""
    run = Run.objects.get(pk=factories.send_turn(client, session, "Go").json()["runs"][0]["id"])
    row = factories.create_waiting_call(run, PARAMETERS, {}, question=asked)
    Run.objects.filter(pk=run.pk).update(status=Status.WAITING, queued_at=Now())
    return str(row.pk)


def decide(client: APIClient, call: str, **body: object) -> tuple[int, str]:
    response = client.post(f"/api/tool-calls/{call}/approval/", {"approved": True, **body}, format="json")
    return response.status_code, response.json().get("code", response.json().get("decision", ""))


def test_open_approvals_are_listed_until_they_are_decided(client: APIClient, session: str) -> None:
    [call] = waiting_call(client, session)
    [listed] = client.get("/api/approvals/").json()
    run = Run.objects.get()
    assert (listed["tool_call"], listed["run"], listed["session"]) == (call, str(run.pk), session)
    assert (listed["name"], listed["arguments"]) == ("act", {"what": "this"})
    assert decide(client, call) == (202, "approved")
    assert client.get("/api/approvals/").json() == []
    run.refresh_from_db()
    assert run.status == Status.QUEUED
    assert decide(client, call) == (409, "already_decided")


def test_the_run_goes_on_with_the_last_decision(client: APIClient, session: str) -> None:
    first, second = waiting_call(client, session, 2)
    assert decide(client, second, approved=False, note="No.") == (202, "refused")
    assert Run.objects.get().status == Status.WAITING
    assert decide(client, first) == (202, "approved")
    assert Run.objects.get().status == Status.QUEUED
    assert Approval.objects.get(tool_call=second).note == "No."


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({"approved": "yes"}, "invalid_type"),
        ({"approved": None}, "invalid_type"),
        ({"arguments": [1]}, "invalid_type"),
        ({"arguments": {"what": 3}}, "arguments_invalid"),
        ({"arguments": {}}, "arguments_invalid"),
        ({"arguments": {"what": "a", "more": 1}}, "arguments_invalid"),
        ({"arguments": {"what": "a" * 100_001}}, "invalid_value"),
        ({"note": "a" * 2_001}, "invalid_value"),
        ({"remember": "for ever"}, "invalid_value"),
        ({"surely": True}, "unknown_field"),
    ],
)
def test_a_bad_decision_is_refused_and_the_call_stays_open(
    client: APIClient, session: str, body: dict[str, object], code: str
) -> None:
    [call] = waiting_call(client, session)
    assert decide(client, call, **body) == (400, code)
    assert len(client.get("/api/approvals/").json()) == 1


def test_what_the_model_asked_for_stands_beside_what_the_user_made_of_it(
    client: APIClient, session: str
) -> None:
    """In the answer's message, and in the tree of the admin."""
    edited, untouched = waiting_call(client, session, 2)
    decide(client, edited, arguments={"what": "that"})
    decide(client, untouched)
    *_, answer = client.get(f"/api/sessions/{session}/messages/").json()
    assert [call.get("asked_arguments") for call in answer["tool_calls"]] == [{"what": "this"}, None]
    staff = Client()
    staff.force_login(User.objects.create_superuser("root"))
    tree = staff.get(reverse("admin:chat_session_change", args=[session])).content.decode()
    assert tree.count("Arguments before the user edited them") == 1


def test_an_export_says_which_calls_were_refused(client: APIClient, session: str) -> None:
    waiting_call(client, session, 2)
    ToolCall.objects.filter(tab_index=0).update(status=ToolCallStatus.REFUSED)
    exported: Any = client.get(f"/api/sessions/{session}/export/", {"as": "markdown"})
    assert "- Tools: act (refused), act\n" in exported.getvalue().decode()


def test_calls_of_others_do_not_exist(client: APIClient, session: str) -> None:
    other = factories.api_client(factories.create_user("mallory"))
    [call] = waiting_call(client, session)
    assert decide(other, call) == (404, "tool_call_not_found")
    assert other.get("/api/approvals/").json() == []
    assert decide(client, "nonsense") == (400, "invalid_id")
    assert Run.objects.get().status == Status.WAITING


def test_nothing_is_open_in_the_trash(client: APIClient, session: str) -> None:
    [call] = waiting_call(client, session)
    Session.objects.move_to_trash(session, timedelta(days=1))
    assert client.get("/api/approvals/").json() == []
    assert decide(client, call) == (404, "tool_call_not_found")


def test_a_socket_decides_by_the_same_rules(client: APIClient, session: str) -> None:
    [call] = waiting_call(client, session)
    owner = Session.objects.get(pk=session).owner
    body = {"tool_call": call, "approved": True, "arguments": {"what": "half"}, "remember": "session"}
    reply = approve(owner, ApproveCommand.parse(body))
    assert to_builtins(reply) == {"type": "accepted", "tool_call": call, "decision": "approved"}
    decided = Approval.objects.get()
    assert (decided.decided_by, decided.final_arguments, decided.is_remembered) == (
        owner,
        {"what": "half"},
        True,
    )


def test_a_question_is_listed_with_its_form_and_answered(client: APIClient, session: str) -> None:
    call = waiting_question(client, session)
    [listed] = client.get("/api/approvals/").json()
    assert (listed["kind"], listed["tool_call"]) == ("question", call)
    assert listed["question"] == {"message": "For the trip.", "form": CITY}
    [message] = [one for one in client.get(f"/api/sessions/{session}/messages/").json() if one["tool_calls"]]
    assert message["tool_calls"][0]["question"] == listed["question"]
    assert decide(client, call, values={"city": "Paris"}) == (202, "answered")
    assert Approval.objects.get().answer == {"city": "Paris"}
    assert Run.objects.get().status == Status.QUEUED
    assert decide(client, call, values={"city": "Berlin"}) == (409, "already_decided")
    assert Approval.objects.get().answer == {"city": "Paris"}


def test_a_question_is_declined_with_a_note(client: APIClient, session: str) -> None:
    call = waiting_question(client, session)
    assert decide(client, call, approved=False, note="Not now.") == (202, "declined")
    decided = Approval.objects.get()
    assert (decided.note, decided.answer, decided.is_remembered) == ("Not now.", None, False)


@pytest.mark.parametrize(
    ("body", "code", "field"),
    [
        ({}, "field_required", "values"),
        ({"values": {}}, "answer_invalid", "values.city"),
        ({"values": {"city": "Rome"}}, "answer_invalid", "values.city"),
        ({"values": {"city": "Paris", "why": 3}}, "answer_invalid", "values.why"),
        ({"values": {"city": "Paris", "more": 3}}, "answer_invalid", "values.more"),
        ({"values": {"city": "Paris", "why": "a" * 100_001}}, "invalid_value", "values"),
        ({"values": ["Paris"]}, "invalid_type", "values"),
        ({"values": {"city": "Paris"}, "remember": "session"}, "invalid_value", "remember"),
        ({"values": {"city": "Paris"}, "arguments": {"what": "a"}}, "invalid_value", "arguments"),
        ({"approved": False, "values": {"city": "Paris"}}, "invalid_value", "values"),
    ],
)
def test_a_bad_answer_is_refused_and_the_question_stays_open(
    client: APIClient, session: str, body: dict[str, object], code: str, field: str
) -> None:
    call = waiting_question(client, session)
    response = client.post(f"/api/tool-calls/{call}/approval/", {"approved": True, **body}, format="json")
    assert (response.status_code, response.json()["code"], response.json()["field"]) == (400, code, field)
    assert len(client.get("/api/approvals/").json()) == 1
    assert Run.objects.get().status == Status.WAITING


def test_an_answer_of_what_asks_for_approval_is_refused(client: APIClient, session: str) -> None:
    [call] = waiting_call(client, session)
    assert decide(client, call, values={"what": "this"}) == (400, "invalid_value")
    assert [listed["kind"] for listed in client.get("/api/approvals/").json()] == ["approval"]


def test_a_socket_answers_by_the_same_rules(client: APIClient, session: str) -> None:
    call = waiting_question(client, session)
    owner = Session.objects.get(pk=session).owner
    with pytest.raises(ApiError) as refused:
        approve(
            owner,
            ApproveCommand.parse({"tool_call": call, "approved": True, "values": {"city": "Rome"}}),
        )
    assert refused.value.code == "answer_invalid"
    reply = approve(
        owner, ApproveCommand.parse({"tool_call": call, "approved": True, "values": {"city": "Berlin"}})
    )
    assert to_builtins(reply) == {"type": "accepted", "tool_call": call, "decision": "answered"}


@pytest.fixture
def sign_in(client: APIClient, session: str) -> str:
    """The row of a call that waits for a sign-in."""
    server = McpServer.objects.create(name="harbour", transport="http", url="https://harbour.example.com/mcp")
    return waiting_question(client, session, SignInQuestion(str(server.pk), server.name))


def test_a_call_that_waits_for_a_sign_in_says_where(client: APIClient, session: str, sign_in: str) -> None:
    server = McpServer.objects.get()
    [listed] = client.get("/api/approvals/").json()
    asked = {"server": str(server.pk), "name": "harbour", "again": False}
    assert (listed["kind"], listed["sign_in"].pop("url")[-5:], listed["sign_in"]) == (
        "sign_in",
        "/mcp/",
        asked,
    )
    messages = client.get(f"/api/sessions/{session}/messages/").json()
    assert messages[-1]["tool_calls"][0]["sign_in"] == asked
    server.delete()
    [listed] = client.get("/api/approvals/").json()
    assert (listed["sign_in"]["server"], listed["sign_in"]["name"]) == (None, "harbour")
    assert decide(client, sign_in, approved=False, note="It is gone.") == (202, "declined")
    assert Run.objects.get().status == Status.QUEUED


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ({}, "not_signed_in"),
        ({"values": {}}, "invalid_value"),
        ({"arguments": {"what": "that"}}, "invalid_value"),
        ({"remember": "session"}, "invalid_value"),
    ],
)
def test_what_is_no_sign_in(client: APIClient, sign_in: str, body: dict[str, object], code: str) -> None:
    assert decide(client, sign_in, **body)[1] == code
    assert Run.objects.get().status == Status.WAITING


def test_who_has_signed_in_says_so(client: APIClient, session: str, sign_in: str) -> None:
    """What the server has refused is no sign-in, and neither is that of somebody else."""
    server, owner = McpServer.objects.get(), Session.objects.get(pk=session).owner
    refused = factories.create_mcp_credential(server, owner)
    factories.create_mcp_credential(server, factories.create_user("bob"))
    Approval.objects.update(credential=refused.pk)
    assert decide(client, sign_in) == (409, "not_signed_in")
    refused.delete()
    factories.create_mcp_credential(server, owner)
    assert decide(client, sign_in) == (202, "signed_in")
    assert decide(client, sign_in, approved=False) == (409, "already_decided")
    assert Run.objects.get().status == Status.QUEUED
