"""What else happens around an answer that goes on: other columns, questions that are taken back, tools, late workers."""

from datetime import timedelta

from chat.models import ModelConfig, Run, ToolCall
from chat.runs.orphans import publish_end
from features.usage.report import load_usage
from tests import factories
from tests.llm_worker.continuing import CUT, MODELS, entries, fresh, go_on
from tests.llm_worker.outcomes import overall_stops


def test_a_question_that_was_taken_back_unread_leaves_the_answer_open(cut, deliver, upstream):
    run = cut()
    client = factories.api_client(run.turn.session.owner)
    go_on(run)
    waiting = factories.send_turn(client, run.turn.session_id, "And then?").json()
    assert client.post(f"/api/messages/{waiting['user_message']}/withdrawal/").status_code == 200
    upstream.reply({"text": "lls "}, *CUT, times=1)
    deliver(run).result(60)
    upstream.reply({"text": "twice."})
    assert go_on(fresh(run))["status"] == "queued"
    deliver(run).result(60)
    assert fresh(run).message.text == "The Moon pulls twice."


def test_what_it_cost_is_counted_while_it_goes_on(cut):
    run = cut()
    client = factories.api_client(run.turn.session.owner)
    [before] = client.get("/api/usage/").json()
    assert before["completion_tokens"] == 3
    go_on(run)
    assert client.get("/api/usage/").json() == [before]
    assert sum(row.completion for row in load_usage(run.created_at - timedelta(days=1)).by_model) == 3


def test_who_announces_the_first_end_late_leaves_the_continuation_alone(cut):
    run = cut()
    go_on(run)
    before = entries(run)
    publish_end(run.pk)
    run = fresh(run)
    assert (run.status, run.announced_at, entries(run)) == ("queued", None, before)


@MODELS
def test_a_model_that_has_nothing_to_add_ends_the_answer(cut, deliver, upstream, model):
    run = cut(model=model)
    upstream.reply({"finish": "stop"})
    go_on(run)
    deliver(run).result(60)
    run = fresh(run)
    assert (run.status, run.message.text, run.finish_reason) == ("completed", "The Moon pu", "stop")


@MODELS
def test_a_tool_that_is_called_in_the_continuation_knows_the_whole_text_before_it(
    cut, deliver, upstream, agent_session, scripted_tool, model
):
    run = cut({"text": "The Moon pu"}, session=agent_session(tools=["act"]), model=model)
    upstream.reply({"text": "lls. "}, {"call": {"name": "act", "arguments": {"what": "it"}}}, times=1)
    upstream.reply({"text": "Twice."})
    go_on(run)
    deliver(run).result(60)
    run = fresh(run)
    assert run.message.text == "The Moon pulls. \n\nTwice."
    assert [call.text_before for call in ToolCall.objects.filter(run=run)] == ["The Moon pulls. "]
    sent = upstream.requests[-1].messages
    assert [one["content"] for one in sent if one["role"] == "assistant"] == ["The Moon pulls. "]


def test_one_of_two_columns_goes_on_before_and_after_the_turn_has_ended(deliver, ask, upstream):
    for name, text in (("a", "One"), ("b", "Two")):
        ModelConfig.objects.create(name=name, base_url=upstream.base_url)
        upstream.reply({"text": text}, *CUT, model=name, times=1)
    one, two = ask("Why?", "a", "b")
    deliver(one).result(60)
    go_on(fresh(one))
    deliver(two).result(60)
    assert overall_stops(one) == []
    upstream.reply({"text": " more"})
    deliver(one).result(60)
    assert overall_stops(one) == ["finished"]
    go_on(fresh(two))
    deliver(two).result(60)
    assert overall_stops(one) == ["finished", "finished"]
    assert [fresh(run).message.text for run in (one, two)] == ["One more", "Two more"]


def test_an_answer_that_is_replaced_while_it_goes_on_is_finished_as_well(cut, deliver, upstream):
    run = cut()
    go_on(run)
    client = factories.api_client(run.turn.session.owner)
    again = client.post(f"/api/messages/{run.turn.user_message_id}/regenerations/", {}, format="json")
    assert again.status_code == 202
    upstream.reply({"text": "lls."})
    deliver(run).result(60)
    deliver(Run.objects.get(pk=again.json()["runs"][0]["id"])).result(60)
    assert fresh(run).message.text == "The Moon pulls."
