"""An answer that was cut at the output limit goes on in the same message, whatever happens meanwhile."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.db.models.functions import Now

from chat.infrastructure.redis_client import sync_redis
from chat.log.stream import ENDED_TTL_S, run_log
from chat.models import ModelConfig, Run, SessionEvent, ToolCall, Turn
from chat.protocol.wire import Packet, Snapshot
from chat.transcript.tools import Annotations
from llm_worker.tools.registry import TOOLS
from tests import factories
from tests.llm_worker.continuing import (
    CUT,
    MODELS,
    WHOLE,
    answer_of,
    continue_and_lose_the_worker,
    entries,
    fresh,
    go_on,
)
from tests.llm_worker.outcomes import overall_stops
from tests.llm_worker.scripted_tool import ScriptedTool
from tests.tool_fixtures import streamed_call


@MODELS
def test_the_same_message_goes_on_and_counts_everything(cut, deliver, upstream, model):
    run = cut(model=model)
    upstream.reply({"text": "lls twice."}, *WHOLE)
    assert go_on(run)["status"] == "queued"
    assert deliver(run).result(60) is True
    run = fresh(run)
    assert (run.status, run.message.text, run.message.reasoning) == (
        "completed",
        "The Moon pulls twice.",
        "Hm.",
    )
    assert (run.finish_reason, run.prompt_tokens, run.completion_tokens, run.cycles) == ("stop", 30, 7, 2)
    assert (float(run.cost), run.continuations, run.announced_at is None) == (3.7, 1, False)
    assert run.time_to_first_token_ms is not None
    assert overall_stops(run) == ["finished", "finished"]
    assert Turn.objects.get(pk=run.turn_id).ended_at is not None
    kinds = list(SessionEvent.objects.order_by("n").values_list("kind", flat=True))
    assert kinds == ["overall_stop", "run_continued", "overall_stop"]
    [question, answer] = factories.api_client(run.turn.session.owner).get(
        f"/api/sessions/{run.turn.session_id}/messages/"
    ).json()  # fmt: skip
    assert (question["text"], answer["text"]) == ("Why?", "The Moon pulls twice.")
    assert "finish_reason" not in answer


def test_the_log_lives_on_while_the_message_goes_on(cut, upstream):
    run = cut(model="plain")
    go_on(run)
    log = run_log(run.turn.session_id, run.pk)
    assert all(sync_redis().ttl(key) > ENDED_TTL_S for key in (log.meta, log.entries))


@MODELS
def test_the_model_is_asked_to_append(cut, deliver, upstream, model):
    run = cut(model=model)
    upstream.reply({"text": "lls."})
    go_on(run)
    deliver(run).result(60)
    first, second = upstream.requests
    added = second.messages[len(first.messages) :]
    assert second.messages[: len(first.messages)] == first.messages
    assert added[0] == {"role": "assistant", "content": "The Moon pu"}
    assert [message["role"] for message in added[1:]] == (["user"] if model == "plain" else [])
    assert all("exactly where it stops" in message["content"] for message in added[1:])


@MODELS
def test_a_limit_of_the_model_holds_for_each_part(cut, deliver, upstream, model):
    run = cut(model=model)
    ModelConfig.objects.update(max_output_tokens=50)
    upstream.reply({"text": "lls."}, *CUT)
    go_on(run)
    deliver(run).result(60)
    assert upstream.requests[-1].body["max_tokens"] == 50
    assert answer_of(run)["finish_reason"] == "length"
    assert go_on(run)["status"] == "queued"


def test_a_page_that_is_loaded_while_it_waits_sees_the_text_even_without_redis(cut):
    run = cut()
    go_on(run)
    [opening] = entries(run)
    assert isinstance(opening, Snapshot)
    assert opening.message["text"] == "The Moon pu"
    for _ in range(2):
        read = answer_of(run)
        assert (read["status"], read["text"], read["cursor"]) == (
            "queued",
            "The Moon pu",
            {"attempt": 2, "seq": 0},
        )
        assert "finish_reason" not in read
        sync_redis().flushdb()


@MODELS
def test_a_worker_lost_in_the_middle_of_the_continuation_loses_no_word(cut, deliver, upstream, model):
    run = cut(model=model)
    continue_and_lose_the_worker(run, deliver, upstream)
    assert fresh(run).message.text == "The Moon pulls twice."
    assert upstream.requests[-1].messages[-1 if model == "prefilling" else -2]["content"] == "The Moon pulls "


def test_stop_keeps_what_was_added(cut, deliver, upstream):
    run = cut()
    reported = run.prompt_tokens + run.completion_tokens
    upstream.reply({"text": "lls "}, {"hang": True})
    go_on(run)
    delivered = deliver(run)
    upstream.wait_for(lambda: answer_of(run)["text"] == "The Moon pulls ")
    client = factories.api_client(run.turn.session.owner)
    assert client.post(f"/api/runs/{run.pk}/cancellation/").status_code == 202
    assert delivered.result(60) is True
    run = fresh(run)
    assert (run.status, run.message.text, run.finish_reason) == ("stopped", "The Moon pulls ", "")
    # Of the second request, which told no counts, they are estimated.
    assert run.estimated_tokens > 0
    assert run.prompt_tokens + run.completion_tokens - run.estimated_tokens == reported
    assert overall_stops(run) == ["finished", "user_cancelled"]


def test_stop_before_a_worker_has_it_keeps_the_text_and_what_it_cost(cut):
    run = cut()
    go_on(run)
    factories.api_client(run.turn.session.owner).post(f"/api/runs/{run.pk}/cancellation/")
    run = fresh(run)
    assert (run.status, run.message.text, run.completion_tokens) == ("stopped", "The Moon pu", 3)
    assert isinstance(entries(run)[-1], Packet)


def test_two_tabs_start_one_continuation(cut, deliver, upstream):
    run = cut()
    upstream.reply({"text": "lls."})

    def press(_):
        try:
            return (
                factories.api_client(run.turn.session.owner)
                .post(f"/api/runs/{run.pk}/continuation/")
                .status_code
            )
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as tabs:
        assert sorted(tabs.map(press, range(4))) == [200, 200, 200, 202]
    deliver(run).result(60)
    run = fresh(run)
    assert (run.continuations, run.message.text) == (1, "The Moon pulls.")


def test_a_continuation_that_fails_keeps_the_text_and_can_be_tried_again(cut, deliver, upstream):
    run = cut()
    upstream.reply({"status": 401}, times=1)
    upstream.reply({"text": "lls."})
    go_on(run)
    deliver(run).result(60)
    read = answer_of(run)
    assert (read["status"], read["text"], read["finish_reason"]) == ("failed", "The Moon pu", "length")
    ModelConfig.objects.update(api_key_env="LLM_KEY_OTHER")
    go_on(run)
    assert "error" not in answer_of(run)
    deliver(run).result(60)
    assert fresh(run).message.text == "The Moon pulls."


def test_a_model_that_is_gone_from_its_server_keeps_the_text_and_what_it_cost(cut, deliver):
    run = cut()
    ModelConfig.objects.update(base_url="")
    go_on(run)
    deliver(run).result(60)
    run = fresh(run)
    assert (run.error_code, run.message.text, run.completion_tokens) == (
        "model_not_configured",
        "The Moon pu",
        3,
    )
    assert run.finish_reason == "length"


def test_tools_are_used_once_and_their_rounds_stay(cut, deliver, upstream, agent_session, scripted_tool):
    session = agent_session(tools=["act"])
    upstream.reply({"text": "Wait. "}, {"call": {"name": "act", "arguments": {"what": "it"}}}, times=1)
    run = cut({"text": "It is d"}, session=session)
    upstream.reply({"text": "one."})
    go_on(run)
    deliver(run).result(60)
    run = fresh(run)
    assert run.message.text == "Wait. \n\nIt is done."
    assert [call.text_before for call in ToolCall.objects.filter(run=run)] == ["Wait. "]
    assert len(scripted_tool.ran) == 1
    assert upstream.requests[-1].messages[-2]["content"] == "It is d"


@pytest.mark.parametrize("finish", ["stop", "content_filter", "tool_calls"])
def test_only_what_was_cut_at_the_limit_goes_on(deliver, ask, upstream, finish):
    upstream.reply({"text": "The end"}, {"finish": finish})
    [run] = ask("Why?")
    deliver(run).result(60)
    assert go_on(run, 409)["code"] == "not_continuable"
    assert fresh(run).status == "completed"


def test_an_answer_with_a_reply_does_not_go_on(cut, ask):
    run = cut()
    run.turn.session.refresh_from_db()
    ask("And?", session=run.turn.session)
    assert go_on(run, 409)["code"] == "not_continuable"


def go_on_to_the_end(run, deliver, upstream):
    upstream.reply({"text": "Done."})
    go_on(run)
    deliver(run).result(60)
    assert fresh(run).status == "completed"


def test_a_call_that_was_cut_off_does_not_run_when_the_answer_goes_on(
    cut, deliver, upstream, agent_session, scripted_tool
):
    run = cut(session=agent_session(tools=["act"]))
    go_on(run)
    upstream.reply(
        {"text": "lls. "}, *streamed_call("act", '{"what": "delete', " far"), {"eof": True}, times=1
    )
    deliver(run).result(60)
    assert (fresh(run).status, fresh(run).error_code) == ("failed", "upstream_interrupted")
    go_on_to_the_end(run, deliver, upstream)
    assert scripted_tool.ran == []
    [call] = ToolCall.objects.all()
    assert (call.status, "was lost" in call.response) == ("unknown", True)


def test_a_call_that_nobody_approved_does_not_run_when_the_answer_goes_on(
    cut, deliver, upstream, agent_session, scripted_tool, monkeypatch
):
    """Of two calls at the limit one waits for approval, and the deadline passes while the other runs."""
    scripted_tool.annotations = Annotations(is_idempotent=True)
    hanging = ScriptedTool("hang")
    hanging.hangs = 1
    monkeypatch.setitem(TOOLS, "hang", hanging)
    run = cut(session=agent_session(tools=["act", "hang"]))
    go_on(run)
    Run.objects.filter(pk=run.pk).update(deadline=Now() + timedelta(seconds=2))
    asked = [{"call": {"name": name, "arguments": {"what": "all"}}} for name in ("act", "hang")]
    upstream.reply({"text": "lls. "}, *asked, {"finish": "length"}, times=1)
    deliver(run).result(60)
    assert (fresh(run).status, fresh(run).error_code) == ("failed", "deadline_exceeded")
    go_on_to_the_end(run, deliver, upstream)
    assert scripted_tool.ran == []
    assert list(ToolCall.objects.values_list("name", "status")) == [("act", "refused"), ("hang", "unknown")]


def test_it_is_asked_for_by_its_message_too_and_answered_as_a_send_is(cut):
    run = cut()
    client = factories.api_client(run.turn.session.owner)
    path = f"/api/messages/{run.message_id}/continuation/"
    first = client.post(path)
    started = {"id": str(run.pk), "message": str(run.message_id), "model": run.model, "model_index": 0}
    expected = {
        "turn": str(run.turn_id),
        "user_message": str(run.turn.user_message_id),
        "runs": [started],
    }
    assert (first.status_code, first.json()) == (202, expected)
    assert (client.post(path).status_code, client.post(path).json()) == (200, expected)
    question = client.post(f"/api/messages/{run.turn.user_message_id}/continuation/")
    assert (question.status_code, question.json()["code"]) == (409, "not_continuable")
    mallory = factories.api_client(factories.create_user("mallory"))
    assert mallory.post(path).json()["code"] == "message_not_found"


def test_the_limit_on_runs_in_progress_holds(cut, settings):
    run = cut()
    settings.MAX_RUNS_PER_USER = 0
    assert go_on(run, 429)["code"] == "too_many_runs"
    assert fresh(run).status == "completed"


def test_the_answer_of_another_user_is_not_found(cut):
    run = cut()
    mallory = factories.api_client(factories.create_user("mallory"))
    assert mallory.post(f"/api/runs/{run.pk}/continuation/").status_code == 404


def test_a_message_sent_meanwhile_waits_for_the_rest(cut, deliver, upstream):
    run = cut()
    client = factories.api_client(run.turn.session.owner)
    go_on(run)
    sent = factories.send_turn(client, run.turn.session_id, "And then?").json()
    waiting = Run.objects.get(pk=sent["runs"][0]["id"])
    upstream.reply({"text": "lls."}, contains="Why?")
    upstream.reply({"text": "More."}, contains="And then?")
    # A delivery is a free slot: it may carry out the run that is waited for, never the one that waits.
    deliver(waiting).result(60)
    assert Run.objects.get(pk=waiting.pk).status == "queued"
    deliver(run).result(60)
    deliver(waiting).result(60)
    assert [one["content"] for one in upstream.requests[-1].messages if one["role"] == "assistant"] == [
        "The Moon pulls."
    ]
