"""Calls of MCP servers that ask their user: the run waits without a worker, and the call is made again with the answer."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from chat.loaders.rounds import load_rounds
from chat.models import Approval, McpServer, Run, ToolCall
from chat.models.tool_call import ToolCallStatus
from chat.protocol.errors import ApiError
from chat.protocol.states import Status
from chat.sweeper import runs as swept
from chat.transcript.questions import Answered
from chat.turns.approvals import ApprovalBody, decide, get_approval
from tests import factories
from tests.features.mcp.turns.test_mcp_turns import call, server, session
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.screens import live, rebuilt
from tests.tool_fixtures import tool_responses

__all__ = ["server", "session"]  # fixtures

ALLOWED = ApprovalBody(approved=True)
AT_NOON = ApprovalBody(approved=True, values={"time": "noon"})


@pytest.fixture
def booking(server, answer) -> Run:
    """A run whose call was approved, and then asked when."""
    run: Run = answer(call("book", place="Sole"))
    reply_to(run, ALLOWED)
    another_worker_does([run])
    run.refresh_from_db()
    assert (run.status, run.owner) == (Status.WAITING, None)
    return run


def reply_to(run: Run, reply: ApprovalBody) -> Approval:
    tool_call = ToolCall.objects.get(run=run)
    return decide(get_approval(run.turn.session.owner, tool_call.pk), reply)


def goes_on(run: Run) -> ToolCall:
    """Another worker process ends the run; returns its call."""
    another_worker_does([run])
    run.refresh_from_db()
    assert run.status == Status.COMPLETED, run.error_code
    return ToolCall.objects.get(run=run)


def test_a_call_that_was_approved_asks_and_is_made_with_the_answer(booking, upstream, tmp_path):
    client = factories.api_client(booking.turn.session.owner)
    [waiting] = client.get("/api/approvals/").json()
    assert (waiting["kind"], waiting["name"]) == ("question", "tests__book")
    assert waiting["question"]["message"] == "When at Sole?"
    assert (tmp_path / "journal").read_text() == ""
    reply_to(booking, AT_NOON)
    assert goes_on(booking).status == "completed"
    assert tool_responses(upstream.requests[-1]) == ["booked"]
    assert (tmp_path / "journal").read_text() == "Sole at noon\n"
    decisions = Approval.objects.order_by("requested_at").values_list("kind", "decision")
    assert list(decisions) == [("approval", "approved"), ("question", "answered")]
    assert live(booking) == rebuilt(booking)


def test_the_server_is_told_that_its_user_declines(booking, upstream, tmp_path):
    reply_to(booking, ApprovalBody(approved=False))
    goes_on(booking)
    assert tool_responses(upstream.requests[-1]) == ["not booked: decline"]
    assert (tmp_path / "journal").read_text() == ""


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (ApprovalBody(approved=True, values={"time": "noon"}, note="By the window."), "booked"),
        (ApprovalBody(approved=False, note="By the window."), "not booked: decline"),
    ],
    ids=["answered", "declined"],
)
def test_a_note_which_the_server_is_not_told_is_read_by_the_model(booking, upstream, reply, outcome):
    reply_to(booking, reply)
    goes_on(booking)
    assert tool_responses(upstream.requests[-1]) == [f"{outcome}\n\nThe user adds: By the window."]


def test_a_question_that_nobody_answers_in_time_ends_the_call(booking, upstream):
    Approval.objects.undecided().update(expires_at=Now() - timedelta(seconds=1))
    assert swept.sweep(trust_locks=True).undecided == 1
    assert goes_on(booking).status == "refused"
    assert tool_responses(upstream.requests[-1]) == ["The user did not answer in time."]


def test_an_answer_is_known_to_whoever_makes_the_call_after_a_crash(booking):
    asked = reply_to(booking, AT_NOON).question
    ToolCall.objects.update(status=ToolCallStatus.RUNNING)
    [[shown]] = [each.calls for each in load_rounds(booking.pk)]
    assert (shown.decision, shown.answers) == (None, (Answered(asked, {"time": "noon"}),))


def test_an_answer_in_the_call_of_a_server_that_needs_no_approval(server, answer, upstream):
    McpServer.objects.update(approval="never")
    run = answer(call("book", place="Sole"), call("echo", text="Ebbe"))
    assert [one.status for one in ToolCall.objects.filter(run=run)] == ["waiting", "completed"]
    decide(get_approval(run.turn.session.owner, ToolCall.objects.filter(run=run)[0].pk), AT_NOON)
    another_worker_does([run])
    assert tool_responses(upstream.requests[-1]) == ["booked", "echo: Ebbe"]


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        (ApprovalBody(approved=True), "paid: accept"),
        (ApprovalBody(approved=False, note="Too dear."), "paid: decline\n\nThe user adds: Too dear."),
    ],
    ids=["done", "not done"],
)
def test_a_call_that_sends_its_user_to_an_address_waits_for_their_word(
    server, answer, upstream, reply, outcome
):
    McpServer.objects.update(approval="never")
    run = answer(call("pay", place="Sole"))
    [waiting] = factories.api_client(run.turn.session.owner).get("/api/approvals/").json()
    asked = {"message": "Pay for Sole.", "url": "https://pay.example.com/Sole"}
    assert (waiting["kind"], waiting["address"]) == ("address", asked)
    with pytest.raises(ApiError, match="invalid_value"):
        reply_to(run, ApprovalBody(approved=True, values={}))
    reply_to(run, reply)
    goes_on(run)
    assert tool_responses(upstream.requests[-1]) == [outcome]
    assert live(run) == rebuilt(run)
