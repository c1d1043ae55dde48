"""An answer that was stopped, or broke off in the middle, goes on in the same message as one that was cut does."""

import pytest

from chat.models import ModelConfig, Run, ToolCall
from chat.protocol.errors import run_error
from chat.protocol.states import Status
from chat.runs.cancellation import stop_run
from chat.runs.orphans import end_orphan
from tests import factories
from tests.llm_worker.continuing import MODELS, answer_of, continue_and_lose_the_worker, fresh, go_on
from tests.llm_worker.outcomes import overall_stops


@pytest.fixture
def stopped(deliver, ask, upstream):
    """Stop an answer after this text; returns the run."""

    def stopped(*steps, session=None, model="plain"):
        ModelConfig.objects.get_or_create(
            name=model, defaults={"base_url": upstream.base_url, "supports_prefill": model == "prefilling"}
        )
        upstream.reply(*(steps or ({"text": "The Moon pu"},)), {"hang": True}, times=1)
        [run] = ask("Why?", model, session=session)
        delivered = deliver(run)
        upstream.wait_for(lambda: answer_of(run)["text"] == "The Moon pu")
        stop_run(run.pk)
        assert delivered.result(60) is True
        return fresh(run)

    return stopped


@MODELS
def test_a_stopped_answer_goes_on_where_it_was_stopped(stopped, deliver, upstream, model):
    run = stopped(model=model)
    read = answer_of(run)
    assert (read["status"], read["text"], read["is_continuable"]) == ("stopped", "The Moon pu", True)
    upstream.reply({"text": "lls twice."})
    go_on(run)
    assert deliver(run).result(60) is True
    run = fresh(run)
    assert (run.status, run.message.text, run.continuations) == ("completed", "The Moon pulls twice.", 1)
    assert overall_stops(run) == ["user_cancelled", "finished"]
    added = upstream.requests[-1].messages[len(upstream.requests[0].messages) :]
    assert added[0] == {"role": "assistant", "content": "The Moon pu"}
    assert "is_continuable" not in answer_of(run)


@MODELS
def test_a_worker_lost_while_a_stopped_answer_goes_on_loses_and_doubles_no_word(
    stopped, deliver, upstream, model
):
    run = stopped(model=model)
    continue_and_lose_the_worker(run, deliver, upstream)
    assert fresh(run).message.text == "The Moon pulls twice."


def test_an_answer_whose_server_broke_off_goes_on(deliver, ask, upstream):
    ModelConfig.objects.create(name="plain", base_url=upstream.base_url)
    upstream.reply({"text": "The Moon pu"}, {"eof": "close"}, times=1)
    [run] = ask("Why?", "plain")
    deliver(run).result(60)
    read = answer_of(run)
    assert (read["status"], read["text"]) == ("failed", "The Moon pu")
    assert read["is_continuable"]
    upstream.reply({"text": "lls."})
    go_on(run)
    deliver(run).result(60)
    read = answer_of(run)
    assert (read["status"], read["text"]) == ("completed", "The Moon pulls.")
    assert "error" not in read


def test_an_answer_that_lost_its_workers_goes_on_and_may_lose_one_again(stopped, deliver, upstream):
    run = stopped()
    go_on(run)
    Run.objects.filter(pk=run.pk).update(failures=3)
    assert end_orphan(fresh(run), Status.FAILED, run_error("worker_lost"))
    assert answer_of(run)["is_continuable"]
    upstream.reply({"text": "lls."})
    go_on(run)
    assert fresh(run).failures == 0
    deliver(run).result(60)
    assert fresh(run).message.text == "The Moon pulls."


def test_a_call_that_was_stopped_does_not_run_when_the_answer_goes_on(
    deliver, ask, upstream, agent_session, scripted_tool
):
    ModelConfig.objects.create(name="plain", base_url=upstream.base_url)
    scripted_tool.hangs = 1
    upstream.reply({"text": "I look. "}, {"call": {"name": "act", "arguments": {"what": "it"}}}, times=1)
    upstream.reply({"text": "I could not."})
    [run] = ask("Why?", "plain", session=agent_session(tools=["act"]))
    delivered = deliver(run)
    upstream.wait_for(lambda: ToolCall.objects.filter(run=run, status="running").exists())
    stop_run(run.pk)
    delivered.result(60)
    ran = len(scripted_tool.ran)
    go_on(run)
    deliver(run).result(60)
    assert len(scripted_tool.ran) == ran
    assert fresh(run).message.text == "I look. \n\nI could not."


@pytest.mark.parametrize("reason", ["content_filter", "token_limit"])
def test_what_a_provider_or_a_limit_has_ended_does_not_go_on_after_a_stop(stopped, reason):
    run = stopped()
    Run.objects.filter(pk=run.pk).update(finish_reason=reason)
    assert "is_continuable" not in answer_of(run)
    assert go_on(run, 409)["code"] == "not_continuable"


def test_a_stopped_answer_with_a_reply_does_not_go_on(stopped):
    run = stopped()
    client = factories.api_client(run.turn.session.owner)
    assert factories.send_turn(client, run.turn.session_id, "And then?").status_code == 202
    assert go_on(run, 409)["code"] == "not_continuable"


def test_an_answer_that_the_server_refused_does_not_go_on(deliver, ask, upstream):
    ModelConfig.objects.create(name="plain", base_url=upstream.base_url)
    upstream.reply({"status": 401})
    [run] = ask("Why?", "plain")
    deliver(run).result(60)
    assert "is_continuable" not in answer_of(run)
    assert go_on(run, 409)["code"] == "not_continuable"
