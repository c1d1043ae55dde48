"""Calls that need a sign-in: the run waits without a worker, and the call is made again once its user has signed in."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db.models.functions import Now

from chat.models import Approval, McpServer, McpToolList, Run, ToolCall
from chat.protocol.errors import ApiError
from chat.protocol.states import Status
from chat.runs import cancellation
from chat.sweeper import runs as swept
from chat.turns.approvals import ApprovalBody, decide, end_sign_ins, get_approval
from features.mcp.client.configuration import MAX_QUESTIONS
from llm_worker.attempt import fenced_writes
from tests import factories
from tests.concurrency import run_concurrently
from tests.features.mcp.client.client import TIDE, sign_in
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.screens import live, rebuilt
from tests.mcp_oauth_server import Issuer
from tests.tool_fixtures import tool_responses

pytestmark = [pytest.mark.e2e]

SIGNED_IN = ApprovalBody(approved=True)
NOT_NOW = ApprovalBody(approved=False, note="Not now.")


@pytest.fixture
def waiting(harbour: McpServer, runtime: Any, session: Any, answer: Any, issuer: Issuer) -> Run:
    """A run whose call was refused, since the tokens of its user were revoked."""
    sign_in(runtime, harbour, session.owner)
    issuer.revoke()
    run: Run = answer(TIDE)
    assert (run.status, run.owner) == (Status.WAITING, None)
    return run


def reply_to(run: Run, reply: ApprovalBody) -> Approval:
    tool_call = ToolCall.objects.get(run=run)
    return decide(get_approval(run.turn.session.owner, tool_call.pk), reply)


def goes_on(run: Run, upstream: Any) -> list[str]:
    """Another worker process ends the run; returns what the model reads."""
    run.refresh_from_db()
    assert run.status == Status.QUEUED
    another_worker_does([run])
    run.refresh_from_db()
    assert run.status == Status.COMPLETED, run.error_code
    return tool_responses(upstream.requests[-1])


def test_a_sign_in_lets_the_turn_go_on(
    waiting: Run, harbour: McpServer, runtime: Any, session: Any, upstream: Any
) -> None:
    [listed] = factories.api_client(session.owner).get("/api/approvals/").json()
    assert (listed["kind"], listed["name"]) == ("sign_in", "harbour__tide")
    asked = listed["sign_in"]
    assert (asked["server"], asked["name"], asked["again"]) == (str(harbour.pk), "harbour", True)
    sign_in(runtime, harbour, session.owner)
    assert goes_on(waiting, upstream) == ["high at Sole"]
    assert ToolCall.objects.get().status == "completed"
    assert Approval.objects.get().decision == "signed_in"
    assert live(waiting) == rebuilt(waiting)


def test_the_sign_in_of_another_user_lets_nothing_go_on(
    waiting: Run, harbour: McpServer, runtime: Any
) -> None:
    sign_in(runtime, harbour, factories.create_user("bob"))
    waiting.refresh_from_db()
    assert waiting.status == Status.WAITING


def test_a_user_who_does_not_sign_in_says_why(waiting: Run, upstream: Any) -> None:
    reply_to(waiting, NOT_NOW)
    assert goes_on(waiting, upstream) == [
        "harbour__tide was not run: the user does not sign in to harbour. They say: Not now."
    ]
    assert ToolCall.objects.get().status == "refused"


def test_nobody_signs_in_in_time(waiting: Run, upstream: Any) -> None:
    Approval.objects.update(expires_at=Now() - timedelta(seconds=1))
    assert swept.sweep(trust_locks=True).undecided == 1
    assert goes_on(waiting, upstream) == [
        "harbour__tide was not run: the user did not sign in to harbour in time."
    ]


def test_a_user_who_has_not_signed_in_cannot_say_so(waiting: Run) -> None:
    with pytest.raises(ApiError) as refused:
        reply_to(waiting, SIGNED_IN)
    assert refused.value.code == "not_signed_in"
    waiting.refresh_from_db()
    assert waiting.status == Status.WAITING


def test_a_run_that_was_stopped_stays_so(
    waiting: Run, harbour: McpServer, runtime: Any, session: Any
) -> None:
    cancellation.stop_run(waiting.pk)
    sign_in(runtime, harbour, session.owner)
    waiting.refresh_from_db()
    assert waiting.status == Status.STOPPED


def test_what_a_dead_worker_has_not_told_is_found_by_the_sweeper(
    waiting: Run, harbour: McpServer, runtime: Any, session: Any, upstream: Any, monkeypatch: Any
) -> None:
    monkeypatch.setattr("features.mcp.client.sign_ins.end_sign_ins", lambda _: None)
    sign_in(runtime, harbour, session.owner)
    waiting.refresh_from_db()
    assert waiting.status == Status.WAITING
    assert swept.sweep(trust_locks=True).undecided == 1
    assert goes_on(waiting, upstream) == ["high at Sole"]


def test_a_sign_in_before_the_run_waits_is_seen_by_it(
    harbour: McpServer,
    runtime: Any,
    session: Any,
    answer: Any,
    issuer: Issuer,
    upstream: Any,
    monkeypatch: Any,
) -> None:
    """Between the refusal of the call and the moment at which its run waits."""
    sign_in(runtime, harbour, session.owner)
    issuer.revoke()
    really = fenced_writes.let_wait

    def signs_in_first(*args: Any) -> Any:
        # Stands for the worker of the sign-in, which finds no run that waits.
        factories.create_mcp_credential(harbour, session.owner)
        return really(*args)

    monkeypatch.setattr("llm_worker.attempt.attempt_phases.let_wait", signs_in_first)
    run = answer(TIDE)
    assert run.status == Status.QUEUED
    assert Approval.objects.get().decision == "signed_in"


def test_who_is_refused_whatever_they_sign_in_with_is_not_asked_for_ever(
    waiting: Run, harbour: McpServer, runtime: Any, session: Any, issuer: Issuer, upstream: Any
) -> None:
    for _ in range(MAX_QUESTIONS):
        waiting.refresh_from_db()
        assert waiting.status == Status.WAITING
        sign_in(runtime, harbour, session.owner)
        issuer.revoke()
        another_worker_does([waiting])
    waiting.refresh_from_db()
    assert waiting.status == Status.COMPLETED
    assert "sign in" in tool_responses(upstream.requests[-1])[0]
    assert Approval.objects.filter(decision="signed_in").count() == MAX_QUESTIONS


def test_a_user_who_cannot_sign_in_is_not_waited_for(
    harbour: McpServer, runtime: Any, session: Any, answer: Any
) -> None:
    """To a server that all users share, staff do."""
    sign_in(runtime, harbour, session.owner)
    McpServer.objects.update(sign_in="shared", tools=McpToolList.objects.get().tools)
    run = answer(TIDE)
    assert run.status == Status.COMPLETED
    assert "sign in" in ToolCall.objects.get(run=run).response


def test_one_of_staff_waits_for_the_sign_in_of_any_of_them(
    harbour: McpServer, runtime: Any, session: Any, answer: Any, issuer: Issuer, upstream: Any
) -> None:
    McpServer.objects.update(sign_in="shared")
    harbour.refresh_from_db()
    User.objects.filter(pk=session.owner_id).update(is_staff=True, is_superuser=True)
    other = factories.create_user("root", is_staff=True, is_superuser=True)
    sign_in(runtime, harbour, other)
    issuer.revoke()
    run = answer(TIDE)
    assert run.status == Status.WAITING
    sign_in(runtime, harbour, other)
    assert goes_on(run, upstream) == ["high at Sole"]


def test_of_a_refusal_and_a_sign_in_at_once_one_counts(
    waiting: Run, harbour: McpServer, session: Any
) -> None:
    factories.create_mcp_credential(harbour, session.owner)

    def refuse() -> str:
        try:
            return reply_to(waiting, NOT_NOW).decision
        except ApiError as error:
            return error.code

    [said, _] = run_concurrently(refuse, lambda: end_sign_ins(harbour.pk))
    decision = Approval.objects.get().decision
    assert (said, decision) in [("declined", "declined"), ("already_decided", "signed_in")]
    waiting.refresh_from_db()
    assert waiting.status == Status.QUEUED


@pytest.mark.parametrize("change", ["regenerate", "edit"])
def test_an_answer_that_another_branch_has_left_behind_goes_on_too(
    waiting: Run, harbour: McpServer, runtime: Any, session: Any, upstream: Any, change: str
) -> None:
    client, question = factories.api_client(session.owner), waiting.turn.user_message_id
    if change == "regenerate":
        changed = client.post(f"/api/messages/{question}/regenerations/", {}, format="json")
    else:
        body = {"text": "Go there", "parent": None, "models": ["plain"]}
        changed = client.post(f"/api/sessions/{session.pk}/turns/", body, format="json")
    assert changed.status_code < 300, changed.content
    sign_in(runtime, harbour, session.owner)
    assert goes_on(waiting, upstream) == ["high at Sole"]


def test_a_sign_in_wakes_nothing_in_a_deleted_chat(
    waiting: Run, harbour: McpServer, runtime: Any, session: Any
) -> None:
    factories.api_client(session.owner).delete(f"/api/sessions/{session.pk}/")
    assert "You are signed in" in sign_in(runtime, harbour, session.owner)
    waiting.refresh_from_db()
    assert waiting.status != Status.QUEUED
    assert swept.sweep(trust_locks=True).undecided == 0
