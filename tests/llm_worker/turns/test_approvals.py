"""Calls that need approval: the run waits without a worker, any worker goes on, and no call is made twice or unasked."""

import json
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial

import pytest
from django.db.models import F
from django.db.models.functions import Now

from chat.infrastructure.redis_client import sync_redis
from chat.loaders.rounds import load_waits
from chat.log.progress import present_live_message
from chat.log.stream import delete_logs, run_log
from chat.models import Approval, ModelConfig, Run, Session, ToolCall, ToolPolicy, Turn
from chat.protocol.errors import ApiError
from chat.protocol.states import Status
from chat.protocol.wire import ApprovalRequired, ToolStart
from chat.runs.cancellation import stop_run
from chat.sessions.deletion import delete_session, restore_session
from chat.sweeper import runs as swept
from chat.transcript.tools import Annotations
from chat.turns.approvals import ApprovalBody, decide, get_approval
from features.approvals.api import present_open_approval
from llm_worker.attempt import round_store
from llm_worker.attempt.runtime import Runtime
from tests import factories
from tests.concurrency import run_concurrently
from tests.llm_worker.attempt.test_drain import another_worker_does
from tests.llm_worker.outcomes import ended
from tests.llm_worker.screens import entries, live, rebuilt
from tests.tool_fixtures import MOON, search_call, streamed_call, tool_responses
from tests.upstream_steps import pieces

YES, NO = ApprovalBody(approved=True), ApprovalBody(approved=False)
MODELS = pytest.mark.parametrize("model", ["plain", "prefilling"])


def act(what: str) -> dict:
    return {"call": {"name": "act", "arguments": {"what": what}}}


def used(tokens: int) -> dict:
    return {"usage": {"prompt_tokens": tokens, "completion_tokens": 1}}


@pytest.fixture
def session(agent_session, scripted_tool, searching, upstream):
    scripted_tool.annotations = Annotations()
    searching.find(MOON, query="moon")
    ModelConfig.objects.create(name="plain", base_url=upstream.base_url)
    ModelConfig.objects.create(name="prefilling", base_url=upstream.base_url, supports_prefill=True)
    return agent_session(tools=["act", "current_time", "research_agent", "web_search"])


@pytest.fixture
def waiting(ask, deliver, upstream, session):
    """Ask a model that makes these calls; returns the run, which waits."""

    def waiting(*calls, model="plain"):
        upstream.reply({"text": "I act. "}, *calls, used(100), times=1)
        upstream.reply({"text": "Done."}, used(200))
        [run] = ask("Go", model, session=session)
        assert deliver(run).result(60)
        run.refresh_from_db()
        assert (run.status, run.owner, run.lease_until) == (Status.WAITING, None, None)
        return run

    return waiting


def approvals_of(run) -> list[Approval]:
    return list(Approval.objects.filter(tool_call__run=run).order_by("tool_call__tab_index"))


class TestOwnersListOfSessions:
    """Says which sessions wait for their owner, from the moment they do until the last of them is decided or ended."""

    @pytest.fixture
    def told(self, session):
        """Listens to the owner's sockets; returns what they were told since the last call."""
        with sync_redis().pubsub(ignore_subscribe_messages=True) as listener:
            listener.subscribe(f"turnwire:user:{session.owner_id}:sessions")
            listener.get_message(timeout=60)

            def told() -> list[bool]:
                sync_redis().publish(f"turnwire:user:{session.owner_id}:sessions", b"{}")
                rows = iter(lambda: json.loads(listener.get_message(timeout=60)["data"]), {})
                return [row["is_waiting"] for row in rows]

            yield told

    def listed(self, session) -> bool:
        api = factories.api_client(session.owner)
        [row] = api.get("/api/sessions/").json()["results"]
        return row["is_waiting"]

    def test_waits_until_the_last_call_is_decided(self, waiting, session, told):
        run = waiting(act("this"), act("that"))
        assert (told()[-1], self.listed(session)) == (True, True)
        first, last = approvals_of(run)
        decide(first, YES)
        assert told() == [True]
        decide(last, NO)
        assert (told(), self.listed(session)) == ([False], False)

    def test_waits_no_more_once_nobody_has_decided_in_time(self, waiting, session, told):
        run = waiting(act("this"))
        assert told()[-1] is True
        Approval.objects.filter(tool_call__run=run).update(expires_at=Now() - timedelta(hours=1))
        swept.sweep(trust_locks=False)
        assert (told(), self.listed(session)) == ([False], False)

    def test_waits_no_more_once_the_run_is_stopped(self, waiting, session, told):
        run = waiting(act("this"))
        assert told()[-1] is True
        stop_run(run.pk)
        assert (told()[-1], self.listed(session)) == (False, False)

    def test_waits_no_more_once_it_is_stopped_while_another_model_answers(
        self, ask, deliver, upstream, session, told
    ):
        first, other = ask("Go", "plain", "prefilling", session=session)
        upstream.reply(act("this"))
        assert deliver(first).result(60)
        assert told()[-1] is True
        stop_run(first.pk)
        assert told() == [False]
        assert not Turn.objects.get(pk=other.turn_id).ended_at


def answer(run, reply, index=0) -> Approval:
    one = approvals_of(run)[index]
    return decide(get_approval(one.owner, one.tool_call_id), reply)


def goes_on(run) -> Run:
    """Another worker process ends the run."""
    run.refresh_from_db()
    assert run.status == Status.QUEUED
    another_worker_does([run])
    ended_run = Run.objects.get(pk=run.pk)
    assert ended_run.status == Status.COMPLETED, ended_run.error_code
    return ended_run


@MODELS
def test_a_call_that_changes_something_waits_and_runs_once_in_another_worker_when_it_is_approved(
    waiting, scripted_tool, upstream, model
):
    run = waiting(act("this"), model=model)
    assert scripted_tool.ran == []
    required = [
        entry.obj for entry in entries(run) if isinstance(getattr(entry, "obj", None), ApprovalRequired)
    ]
    call = ToolCall.objects.get(run=run)
    assert [(one.tool_call, one.name, one.arguments) for one in required] == [
        (str(call.pk), "act", {"what": "this"})
    ]
    assert call.status == "waiting"
    answer(run, YES)
    run = goes_on(run)
    assert scripted_tool.ran == [{"what": "this"}]
    call.refresh_from_db()
    assert (call.status, call.response) == ("completed", "did this")
    assert tool_responses(upstream.requests[-1]) == ["did this"]
    run.message.refresh_from_db()
    assert run.message.text == "I act. \n\nDone."
    if model == "plain":
        assert live(run) == rebuilt(run)
    assert (run.cycles, run.prompt_tokens) == (2, 300)


def test_a_refused_call_does_not_run_and_the_model_reads_why(waiting, scripted_tool, upstream):
    run = waiting(act("this"))
    answer(run, ApprovalBody(approved=False, note="Not on Sundays."))
    goes_on(run)
    assert scripted_tool.ran == []
    call = ToolCall.objects.get(run=run)
    assert call.status == "refused"
    assert tool_responses(upstream.requests[-1]) == [
        "The user refused this call of act; it was not run. They say: Not on Sundays."
    ]


def test_edited_arguments_run_and_are_what_the_model_sees(waiting, scripted_tool, upstream):
    run = waiting(act("all of it"))
    with pytest.raises(ApiError) as refused:
        answer(run, ApprovalBody(approved=True, arguments={"what": 3}))
    assert refused.value.code == "arguments_invalid"
    assert not approvals_of(run)[0].decision
    answer(run, ApprovalBody(approved=True, arguments={"what": "half of it"}))
    goes_on(run)
    assert scripted_tool.ran == [{"what": "half of it"}]
    [sent] = [call for message in upstream.requests[-1].messages for call in message.get("tool_calls", ())]
    assert "half of it" in sent["function"]["arguments"]
    assert ToolCall.objects.get(run=run).arguments == {"what": "half of it"}
    assert approvals_of(run)[0].arguments == {"what": "all of it"}


def test_of_parallel_calls_only_those_that_need_approval_wait(waiting, scripted_tool, searching, upstream):
    run = waiting(act("one"), search_call("moon"), act("two"))
    assert searching.queries == ["moon"]
    assert [call.status for call in ToolCall.objects.filter(run=run)] == ["waiting", "completed", "waiting"]
    answer(run, NO, 0)
    run.refresh_from_db()
    assert run.status == Status.WAITING
    answer(run, YES, 1)
    run = goes_on(run)
    assert (searching.queries, scripted_tool.ran) == (["moon"], [{"what": "two"}])
    assert [call.status for call in ToolCall.objects.filter(run=run)] == ["refused", "completed", "completed"]
    assert live(run) == rebuilt(run)


def test_rows_say_where_it_waits_and_whether_it_still_does(waiting, searching):
    run = waiting(act("one"), search_call("moon"), act("two"))
    run = Run.objects.for_work().get(pk=run.pk)
    [wait] = load_waits(run)
    assert (wait.round, list(wait.asked), wait.beside) == (0, [0, 2], {1})
    assert (wait.is_reached, wait.is_for_approvals, wait.is_open) == (True, True, True)
    answer(run, ApprovalBody(approved=False, note="No."), 0)
    [wait] = load_waits(run)
    assert [(asked.decision, asked.note) for asked in wait.asked.values()] == [("refused", "No."), ("", "")]
    assert wait.is_open
    stop_run(run.pk)
    [wait] = load_waits(run)
    assert not wait.is_open


def test_an_approval_for_the_session_covers_later_calls_of_that_tool_there(
    waiting, ask, deliver, upstream, session, scripted_tool
):
    run = waiting(act("this"))
    answer(run, ApprovalBody(approved=True, remember="session"))
    goes_on(run)
    upstream.rules.clear()
    upstream.reply(act("again"), contains="Once more", after_tools=0)
    upstream.reply({"text": "Twice."}, contains="Once more", after_tools=1)
    [again] = ask("Once more", "plain", session=session)
    deliver(again).result(60)
    ended(again, Status.COMPLETED, text="Twice.")
    assert scripted_tool.ran == [{"what": "this"}, {"what": "again"}]


def test_rules_of_admins_decide_what_asks(ask, deliver, upstream, session, scripted_tool, searching):
    ToolPolicy.objects.create(name="act", approval="never")
    ToolPolicy.objects.create(name="web_search", approval="ask")
    upstream.reply(act("this"), search_call("moon"), times=1)
    [run] = ask("Go", "plain", session=session)
    deliver(run).result(60)
    assert (scripted_tool.ran, searching.queries) == ([{"what": "this"}], [])
    assert [one.name for one in approvals_of(run)] == ["web_search"]


def test_tools_that_ask_are_not_offered_inside_agent_tools(ask, deliver, upstream, session, searching):
    ToolPolicy.objects.create(name="web_search", approval="ask")
    upstream.reply(
        {"call": {"name": "research_agent", "arguments": {"question": "Who pulls the sea?"}}}, times=1
    )
    upstream.reply({"text": "Whatever."})
    [run] = ask("Go", "plain", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED)
    inner = upstream.requests[1].body["tools"]
    assert [tool["function"]["name"] for tool in inner] == ["current_time", "open_url"]


def test_a_worker_that_dies_after_an_approved_call_began_does_not_make_it_twice(
    waiting, deliver, scripted_tool, upstream, runtime
):
    run = waiting(act("wait"))
    answer(run, YES)
    future = deliver(run)
    upstream.wait_for(lambda: scripted_tool.ran)
    runtime.drain(0)
    assert future.result(60)
    another_worker_does([run])
    assert len(scripted_tool.ran) == 1
    call = ToolCall.objects.get(run=run)
    assert call.status == "unknown"
    assert "may or may not" in call.response


def test_a_stop_while_it_waits_ends_it_and_a_later_decision_is_refused(waiting, scripted_tool):
    run = waiting(act("this"))
    assert stop_run(run.pk).status == Status.STOPPED
    run.refresh_from_db()
    run.message.refresh_from_db()
    assert (run.status, run.message.text) == (Status.STOPPED, "I act. ")
    assert ToolCall.objects.get(run=run).status == "refused"
    with pytest.raises(ApiError) as refused:
        answer(run, YES)
    assert refused.value.code == "already_decided"
    assert list(Approval.objects.open_for(run.turn.session.owner)) == []
    assert scripted_tool.ran == []


def test_of_two_tabs_that_decide_at_once_one_is_refused(waiting, scripted_tool):
    run = waiting(act("this"))

    def press(reply):
        try:
            return answer(run, reply).decision
        except ApiError as error:
            return error.code

    codes = run_concurrently(*(partial(press, reply) for reply in (YES, NO)))
    assert "already_decided" in codes
    assert len(codes) == 2
    goes_on(run)
    assert len(scripted_tool.ran) == codes.count("approved")


def test_a_decision_while_another_call_still_runs_does_not_make_the_run_wait(
    ask, deliver, upstream, session, scripted_tool
):
    ToolPolicy.objects.create(name="act", approval="never")
    ToolPolicy.objects.create(name="current_time", approval="ask")
    upstream.reply(act("wait"), {"call": {"name": "current_time", "arguments": {}}}, times=1)
    upstream.reply({"text": "Done."})
    [run] = ask("Go", "plain", session=session)
    future = deliver(run)
    upstream.wait_for(lambda: scripted_tool.ran)
    answer(run, YES)
    scripted_tool.released.set()
    assert future.result(60)
    run = goes_on(run)
    assert len(scripted_tool.ran) == 1
    assert [entry["to"] for entry in run.history].count("waiting") == 0


def test_what_nobody_decides_about_in_time_is_refused(waiting, scripted_tool, upstream):
    run = waiting(act("this"))
    swept.sweep(trust_locks=True)
    run.refresh_from_db()
    assert run.status == Status.WAITING
    Approval.objects.update(expires_at=Now() - timedelta(seconds=1))
    assert swept.sweep(trust_locks=True).undecided == 1
    goes_on(run)
    assert scripted_tool.ran == []
    assert tool_responses(upstream.requests[-1]) == ["act was not run: nobody approved it in time."]
    assert approvals_of(run)[0].decision == "expired"


def test_what_nobody_decided_about_before_its_chat_was_deleted_holds_up_no_sweep(waiting, caplog):
    run = waiting(act("far"))
    session = run.turn.session
    delete_session(session)
    Approval.objects.update(expires_at=Now() - timedelta(seconds=1))
    assert swept.sweep(trust_locks=True).undecided == 0
    assert "cannot be repaired" not in caplog.text
    assert [one.decision for one in approvals_of(run)] == [""]
    restore_session(Session.with_trash.get(pk=session.pk))
    assert swept.sweep(trust_locks=True).undecided == 1
    assert [one.decision for one in approvals_of(run)] == ["stopped"]


@MODELS
def test_what_the_model_says_after_a_call_that_waits_is_kept(ask, deliver, upstream, session, model):
    """Text that is read together with the call before it; in one write, so that it is, however slow the machine."""
    written = [*streamed_call("act", '{"what": "go', ' far"}'), {"text": "And so."}]
    sent = b"".join(piece for step in written for piece in pieces(step, {"model": model}))
    upstream.reply({"text": "I act. "}, {"raw": sent}, times=1)
    upstream.reply({"text": " Done."})
    [run] = ask("Go", model, session=session)
    assert deliver(run).result(60)
    run.refresh_from_db()
    assert (run.status, run.message.text) == (Status.WAITING, "I act. And so.")
    answer(run, YES)
    run = goes_on(run)
    assert run.message.text == "I act. And so.\n\n Done."
    if model == "plain":
        assert live(run) == rebuilt(run)


@MODELS
def test_what_readers_saw_after_a_call_that_waits_is_kept_also_by_a_worker_that_leaves_while_it_runs(
    ask, deliver, upstream, session, scripted_tool, model
):
    """The text is read once readers see the call, and shown after it."""
    call = streamed_call("act", '{"what": ', '"wait"}')
    upstream.reply({"text": "I act. "}, *call, {"wait": "seen"}, {"text": "And so."}, times=1)
    upstream.reply({"text": "Done."})
    [run] = ask("Go", model, session=session)
    asked = deliver(run)
    upstream.wait_for(
        lambda: any(isinstance(getattr(entry, "obj", None), ToolStart) for entry in entries(run))
    )
    upstream.release("seen")
    assert asked.result(60)
    run.refresh_from_db()
    assert (run.status, run.message.text) == (Status.WAITING, "I act. \n\nAnd so.")
    answer(run, YES)
    leaving = Runtime()
    leaving.start()
    with ThreadPoolExecutor(1) as thread:
        released = thread.submit(leaving.run, str(run.pk))
        upstream.wait_for(lambda: scripted_tool.ran)
        assert present_live_message(Run.objects.get(pk=run.pk).message)["text"] == "I act. \n\nAnd so."
        leaving.drain(0)
        assert released.result(60)
    leaving.stop()
    run.refresh_from_db()
    run.message.refresh_from_db()
    assert (run.status, run.message.text) == (Status.QUEUED, "I act. \n\nAnd so.")
    run = goes_on(run)
    assert run.message.text == "I act. \n\nAnd so.\n\nDone."
    assert [message["role"] for message in upstream.requests[-1].body["messages"]][-2:] == [
        "assistant",
        "tool",
    ]


def test_waiting_does_not_count_against_the_deadline(waiting):
    run = waiting(act("this"))
    Run.objects.filter(pk=run.pk).update(
        queued_at=F("queued_at") - timedelta(days=2), deadline=Now() - timedelta(days=1)
    )
    swept.sweep(trust_locks=True)
    answer(run, YES)
    goes_on(run)


def test_a_waiting_run_is_shown_from_the_database_once_its_log_has_expired(waiting):
    run = waiting(act("this"))
    log = run_log(run.turn.session_id, run.pk)
    assert 0 < sync_redis().ttl(log.entries) <= 60
    delete_logs(log)
    shown = present_live_message(run.message)
    assert (shown["status"], shown["text"]) == ("waiting", "I act. ")
    assert [call["status"] for call in shown["tool_calls"]] == ["waiting"]


def test_open_approvals_are_listed_for_their_owner_alone_and_not_from_the_trash(waiting, django_user_model):
    run = waiting(act("this"))
    owner = run.turn.session.owner
    other = django_user_model.objects.create(username="mallory")
    [one] = Approval.objects.open_for(owner).select_related("tool_call")
    assert present_open_approval(one, "")["arguments"] == {"what": "this"}
    assert list(Approval.objects.open_for(other)) == []
    for user, call in ((other, one.tool_call_id), (owner, uuid.uuid4())):
        with pytest.raises(ApiError) as refused:
            decide(get_approval(user, call), YES)
        assert refused.value.code == "tool_call_not_found"
    Session.objects.move_to_trash(run.turn.session_id, timedelta(days=1))
    assert list(Approval.objects.open_for(owner)) == []


def test_a_retried_write_asks_once(waiting, monkeypatch):
    """The reply of the database is lost after its commit."""
    once = round_store.begin_round
    monkeypatch.setattr(round_store, "begin_round", lambda *given: once(*given) and once(*given))
    assert len(approvals_of(waiting(act("this")))) == 1
