"""Calls that ask their user something: the run waits without a worker, and any worker goes on with the answer."""

from datetime import timedelta
from functools import partial

import pytest
from django.db.models.functions import Now

from chat.log.progress import present_live_message
from chat.log.stream import delete_logs, run_log
from chat.models import Approval, ModelConfig, Run, Session, ToolCall, ToolPolicy
from chat.protocol.call_answers import QuestionAnswer
from chat.protocol.errors import ApiError
from chat.protocol.states import Status
from chat.protocol.wire import ApprovalRequired
from chat.runs.cancellation import stop_run
from chat.sweeper import runs as swept
from chat.turns.approvals import ApprovalBody, decide, get_approval
from tests.concurrency import run_concurrently
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.outcomes import ended
from tests.llm_worker.screens import entries, live, rebuilt
from tests.tool_fixtures import tool_responses

# In an order that a JSON column of the database forgets.
QUESTIONS = [
    {"name": "nights", "question": "Nights", "type": "number", "required": False},
    {"name": "city", "question": "Which city?", "type": "choice", "options": ["Berlin", "Paris"]},
]
ASK = {"call": {"name": "ask_user", "arguments": {"message": "For the trip.", "questions": QUESTIONS}}}
ACT = {"call": {"name": "act", "arguments": {"what": "this"}}}
PARIS = ApprovalBody(approved=True, values={"city": "Paris", "nights": 2})
DECLINED = ApprovalBody(approved=False, note="Guess.")


@pytest.fixture
def session(agent_session, scripted_tool, upstream):
    ModelConfig.objects.create(name="plain", base_url=upstream.base_url)
    return agent_session(tools=["act", "ask_user", "research_agent"])


@pytest.fixture
def waiting(ask, deliver, upstream, session):
    """Ask a model that makes these calls; returns the run, which waits."""

    def waiting(*calls):
        upstream.reply({"text": "One moment. "}, *(calls or (ASK,)), times=1)
        upstream.reply({"text": "Booked."})
        [run] = ask("A trip, please", "plain", session=session)
        assert deliver(run).result(60)
        run.refresh_from_db()
        assert (run.status, run.owner) == (Status.WAITING, None)
        return run

    return waiting


def approval_of(run) -> Approval:
    return Approval.objects.get(tool_call__run=run)


def form_of(run) -> dict:
    question = approval_of(run).question
    assert question
    return dict(question.form)


def answer(run, reply) -> Approval:
    one = approval_of(run)
    return decide(get_approval(one.owner, one.tool_call_id), reply)


def goes_on(run) -> Run:
    """Another worker process ends the run."""
    another_worker_does([run])
    ended_run = Run.objects.get(pk=run.pk)
    assert ended_run.status == Status.COMPLETED, ended_run.error_code
    return ended_run


def test_a_question_waits_and_its_answer_is_what_the_model_reads(waiting, upstream):
    run = waiting()
    [required] = [one.obj for one in entries(run) if isinstance(getattr(one, "obj", None), ApprovalRequired)]
    call = ToolCall.objects.get(run=run)
    asked = {"message": "For the trip.", "form": form_of(run)}
    assert (required.tool_call, required.name, required.question) == (
        str(call.pk),
        "ask_user",
        QuestionAnswer(**asked),
    )
    assert (list(asked["form"]["properties"]), asked["form"]["required"]) == (["nights", "city"], ["city"])
    decided = answer(run, PARIS)
    assert (decided.decision, decided.answer, decided.decided_by) == ("answered", PARIS.values, decided.owner)
    run = goes_on(run)
    call.refresh_from_db()
    assert (call.status, call.response) == ("completed", "Nights: 2\nWhich city? Paris")
    assert call.duration_ms == 0  # of outputs that a program told, it is not known
    assert tool_responses(upstream.requests[-1]) == ["Nights: 2\nWhich city? Paris"]
    assert call.arguments == ASK["call"]["arguments"]
    assert live(run) == rebuilt(run)


def test_a_question_that_is_declined_says_so_with_the_note(waiting, upstream):
    run = waiting()
    assert answer(run, DECLINED).decision == "declined"
    goes_on(run)
    assert tool_responses(upstream.requests[-1]) == ["The user declined to answer. They say: Guess."]
    assert ToolCall.objects.get(run=run).status == "refused"


def test_a_note_with_an_answer_is_read_too(waiting, upstream):
    run = waiting()
    answer(run, ApprovalBody(approved=True, values={"city": "Paris"}, note="By train."))
    goes_on(run)
    assert tool_responses(upstream.requests[-1]) == [
        "Nights: (not answered)\nWhich city? Paris\nThey add: By train."
    ]


def test_a_question_that_nobody_answers_in_time_is_over(waiting, upstream):
    run = waiting()
    Approval.objects.update(expires_at=Now() - timedelta(seconds=1))
    assert swept.sweep(trust_locks=True).undecided == 1
    goes_on(run)
    assert tool_responses(upstream.requests[-1]) == ["The user did not answer in time."]
    assert approval_of(run).decision == "expired"


def test_an_answer_that_does_not_fit_leaves_the_question_open(waiting):
    run = waiting()
    for values in ({}, {"city": "Rome"}, {"city": "Paris", "nights": "two"}, {"city": "Paris", "more": 1}):
        with pytest.raises(ApiError) as refused:
            answer(run, ApprovalBody(approved=True, values=values))
        assert refused.value.code == "answer_invalid"
    assert list(Approval.objects.open_for(run.turn.session.owner)) == [approval_of(run)]
    run.refresh_from_db()
    assert run.status == Status.WAITING


def test_of_two_tabs_that_answer_at_once_one_is_refused(waiting, upstream):
    run = waiting()

    def press(reply):
        try:
            return answer(run, reply).decision
        except ApiError as error:
            return error.code

    codes = run_concurrently(*(partial(press, reply) for reply in (PARIS, DECLINED)))
    assert "already_decided" in codes
    goes_on(run)
    [response] = tool_responses(upstream.requests[-1])
    assert ("Paris" in response) == ("answered" in codes)


def test_a_stop_while_it_waits_ends_it_and_a_later_answer_is_refused(waiting):
    run = waiting()
    assert stop_run(run.pk).status == Status.STOPPED
    assert ToolCall.objects.get(run=run).status == "refused"
    with pytest.raises(ApiError) as refused:
        answer(run, PARIS)
    assert refused.value.code == "already_decided"


def test_a_deleted_chat_asks_nothing(waiting):
    run = waiting()
    Session.objects.move_to_trash(run.turn.session_id, timedelta(days=1))
    assert list(Approval.objects.open_for(run.turn.session.owner)) == []
    with pytest.raises(ApiError) as refused:
        answer(run, PARIS)
    assert refused.value.code == "tool_call_not_found"


def test_calls_beside_a_question_run_at_once(waiting, scripted_tool, upstream):
    run = waiting(ACT, ASK)
    assert scripted_tool.ran == [{"what": "this"}]
    answer(run, PARIS)
    goes_on(run)
    assert tool_responses(upstream.requests[-1]) == ["did this", "Nights: 2\nWhich city? Paris"]


def test_rules_of_admins_do_not_change_what_a_question_is(waiting):
    ToolPolicy.objects.create(name="ask_user", approval="ask")
    run = waiting()
    assert approval_of(run).kind == "question"


def test_what_makes_no_form_is_told_to_the_model_without_waiting(ask, deliver, upstream, session):
    bad = {"call": {"name": "ask_user", "arguments": {"message": "Well.", "questions": [QUESTIONS[0]] * 2}}}
    upstream.reply(bad, times=1)
    upstream.reply({"text": "Never mind."})
    [run] = ask("A trip, please", "plain", session=session)
    assert deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Never mind.")
    assert tool_responses(upstream.requests[-1]) == [
        "ask_user was not run: Two questions have the same name."
    ]
    assert not Approval.objects.exists()


def test_agent_tools_cannot_ask(ask, deliver, upstream, session):
    upstream.reply({"call": {"name": "research_agent", "arguments": {"question": "Where?"}}}, times=1)
    upstream.reply(ASK, times=1)
    upstream.reply({"text": "Whatever."})
    [run] = ask("A trip, please", "plain", session=session)
    assert deliver(run).result(60)
    ended(run, Status.COMPLETED)
    assert "ask_user" not in [tool["function"]["name"] for tool in upstream.requests[1].body["tools"]]
    assert not Approval.objects.exists()


def test_chats_without_the_tool_are_not_offered_it(ask, deliver, upstream):
    upstream.reply({"text": "Hello."})
    [run] = ask("Hello", "plain")
    assert deliver(run).result(60)
    assert "tools" not in upstream.requests[-1].body


def test_a_question_is_shown_from_the_database_once_its_log_has_expired(waiting):
    run = waiting()
    delete_logs(run_log(run.turn.session_id, run.pk))
    [call] = present_live_message(run.message)["tool_calls"]
    assert (call["status"], call["question"]["message"]) == ("waiting", "For the trip.")
    assert list(call["question"]["form"]["properties"]) == ["nights", "city"]
    answer(run, PARIS)
    goes_on(run)
    run = Run.objects.select_related("message").get(pk=run.pk)
    [call] = present_live_message(run.message)["tool_calls"]
    assert "question" not in call


def test_another_worker_that_takes_the_round_over_shows_the_question_again(
    ask, deliver, upstream, session, scripted_tool, runtime
):
    wait = {"call": {"name": "act", "arguments": {"what": "wait"}}}
    upstream.reply(wait, ASK, times=1)
    [run] = ask("A trip, please", "plain", session=session)
    future = deliver(run)
    upstream.wait_for(lambda: scripted_tool.ran)
    runtime.drain(0)
    assert future.result(60)
    scripted_tool.released.set()
    another_worker_does([run])
    run.refresh_from_db()
    assert (run.status, run.attempt) == (Status.WAITING, 2)
    shown = [one.obj for one in entries(run) if isinstance(getattr(one, "obj", None), ApprovalRequired)]
    assert [packet.question for packet in shown] == [QuestionAnswer("For the trip.", form_of(run))]
