"""Answers that begin with rounds of calls which the caller has carried out."""

import pytest

from chat.models import ModelConfig, ToolCall, Turn
from chat.protocol.states import Status
from chat.runs.cancellation import stop_run
from chat.transcript.waits import ANY, CallerFunction, CallerTools
from features.openai.conversation import ToldCall, ToldRound, rows_of
from llm_worker.attempt import fenced_writes
from tests.llm_worker.outcomes import ended
from tests.llm_worker.screens import live, rebuilt

TOOLS = CallerTools([CallerFunction("weather", "The weather.", {"type": "object"})], ANY)


@pytest.fixture
def begun(ask):
    """A queued run whose answer begins with a round."""

    def begun(*models):
        [run] = ask("Rain?", *models)
        given_round = ToldRound("I look.", [ToldCall("c1", "weather", {}, "Rain")])
        count = ToolCall.objects.store_rounds(run, rows_of([given_round]))
        Turn.objects.set_caller_tools(run.turn_id, TOOLS.as_json, count)
        run.refresh_from_db()
        return run

    return begun


def test_the_answer_goes_on_behind_the_rounds_and_may_call_again(begun, deliver, upstream):
    upstream.reply({"call": {"name": "weather", "arguments": {}}}, after_tools=1)
    run = begun()
    assert deliver(run).result(60)
    ended(run, Status.COMPLETED, text="I look.")
    calls = ToolCall.objects.filter(run=run).values_list("turn_number", "status", "response")
    assert list(calls) == [(0, "completed", "Rain"), (1, "pending", "")]
    assert upstream.requests[0].body["tool_choice"] == "required"
    assert live(run) == rebuilt(run)


def test_a_run_that_ends_before_it_asks_its_model_keeps_the_text_of_the_rounds(begun, deliver, upstream):
    ModelConfig.objects.create(name="retired", base_url=upstream.base_url, enabled=False)
    run = begun("retired")
    assert deliver(run).result(60)
    run.refresh_from_db()
    run.message.refresh_from_db()
    assert (run.status, run.error_code, run.message.text) == (
        Status.FAILED,
        "model_not_configured",
        "I look.",
    )
    assert not upstream.requests


def test_a_function_that_the_server_refuses_is_named_and_nothing_is_remembered(begun, deliver, upstream):
    """Left out, the caller would get an answer that never saw it."""
    refusal = "Invalid schema for function 'weather': None is not of type 'object'"
    upstream.reply({"status": 400, "body": {"error": {"message": refusal}}})
    model = ModelConfig.objects.create(name="scripted", base_url=upstream.base_url)
    run = begun("scripted")
    assert deliver(run).result(60)
    run.refresh_from_db()
    ended(run, Status.FAILED, code="upstream_option_rejected", text="I look.")
    assert run.error_message == "The model server refused an option that was chosen: tools.weather."
    model.refresh_from_db()
    assert (len(upstream.requests), model.refused_tools) == (1, [])


def test_calls_that_were_handed_over_stay_so_if_a_stop_comes_before_the_end(
    begun, deliver, upstream, monkeypatch
):
    upstream.reply({"call": {"name": "weather", "arguments": {}}}, after_tools=1)
    run = begun()
    monkeypatch.setattr(
        fenced_writes, "reach", lambda point: stop_run(run.pk) if point == "before_finish" else None
    )
    assert deliver(run).result(60)
    ended(run, Status.STOPPED, text="I look.")
    assert ToolCall.objects.get(run=run, turn_number=1).status == "pending"
    assert live(run) == rebuilt(run)
