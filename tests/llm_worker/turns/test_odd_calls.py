"""Malformed and unusual tool calls: each gets a response, none ends the run."""

from datetime import timedelta

import pytest
from django.utils import timezone

from chat.models import ToolCall
from chat.protocol.states import Status
from tests.llm_worker.outcomes import ended
from tests.llm_worker.screens import live, rebuilt

DEEP = "[" * 100_000 + "]" * 100_000


@pytest.fixture
def session(agent_session, scripted_tool):
    return agent_session(tools=["act", "current_time", "research_agent"])


@pytest.mark.parametrize(
    "call",
    [
        pytest.param({"name": "x" * 500, "arguments": {}}, id="a long name"),
        pytest.param({"name": "a\x00b\ud800", "arguments": {}}, id="a name that cannot be stored"),
        pytest.param({"name": "act", "arguments": {}, "id": "i" * 1000}, id="a long id"),
        pytest.param({"name": "act", "arguments": {}, "id": "a\x00b\ud800"}, id="an id that cannot be stored"),
        pytest.param({"name": "act", "arguments": {"what": "a\x00b\ud800c"}}, id="arguments that cannot be stored"),
        pytest.param({"name": "act", "arguments": {"a\x00b\ud800": 1}}, id="keys that cannot be stored"),
        pytest.param({"name": "act", "arguments": '{"n": NaN, "m": -Infinity}'}, id="numbers that are none"),
        pytest.param({"name": "act", "arguments": '{"n": 1e999}'}, id="a number too large for a float"),
        pytest.param({"name": "act", "arguments": '{"n": ' + "9" * 6000 + "}"}, id="a very long number"),
        pytest.param({"name": "act", "arguments": '{"n": ' + DEEP + "}"}, id="nested very deep"),
        pytest.param({"name": "act", "arguments": '{"n": ' + DEEP[:900] + DEEP[-900:] + "}"}, id="nested deep"),
        pytest.param({"name": "act", "arguments": {"n": "x" * 100_000}}, id="very long"),
        pytest.param({"name": "act", "arguments": '{"what": "a", "what": "b"}'}, id="one key twice"),
        pytest.param({"name": "act", "arguments": ""}, id="nothing"),
        pytest.param({"name": "act", "arguments": "null"}, id="null"),
        pytest.param({"name": "act", "arguments": {"what": 7}}, id="the wrong type"),
        pytest.param({"name": "research_agent", "arguments": {"question": ""}}, id="too short"),
    ],
)  # fmt: skip
def test_a_malformed_call_gets_a_response_and_the_turn_continues(ask, deliver, upstream, session, call):
    upstream.reply(
        {"text": "Hm. "}, {"call": call}, {"call": {"name": "current_time", "arguments": {}}}, times=1
    )
    upstream.reply({"text": "Well."})
    [run] = ask("Go", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Hm. \n\nWell.")
    assert ToolCall.objects.filter(run=run).count() == 2
    called = [one["id"] for m in upstream.requests[1].messages for one in m.get("tool_calls", ())]
    answered = [m["tool_call_id"] for m in upstream.requests[1].messages if m["role"] == "tool"]
    assert called == answered
    assert len(set(called)) == 2
    assert live(run) == rebuilt(run)


@pytest.mark.parametrize(
    "says", ["", "\x00", "a\x00b\ud800", "x" * 3_000_000], ids=["nothing", "nul", "odd", "long"]
)
def test_an_unusual_response_is_stored_and_sent(ask, deliver, upstream, session, scripted_tool, says):
    scripted_tool.says = lambda _: says
    upstream.reply({"call": {"name": "act", "arguments": {}}}, times=1)
    upstream.reply({"text": "Well."})
    [run] = ask("Go", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Well.")
    assert ToolCall.objects.get(run=run).response
    assert live(run) == rebuilt(run)


def test_a_call_id_may_repeat_in_every_step(ask, deliver, upstream, session):
    upstream.reply({"call": {"name": "act", "arguments": {}, "id": "call_0"}}, times=2)
    upstream.reply({"text": "Well."})
    [run] = ask("Go", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Well.")
    assert live(run) == rebuilt(run)


def test_a_round_is_kept_if_the_model_fails_after_it(ask, deliver, upstream, session):
    upstream.reply({"text": "Hm. "}, {"call": {"name": "act", "arguments": {}}}, times=1)
    upstream.reply({"text": "Half"}, {"call": {"name": "act", "arguments": {}}}, {"eof": True}, times=1)
    upstream.reply({"text": "Well."})
    [run] = ask("Go", session=session)
    deliver(run).result(60)
    ended(run, Status.FAILED, text="Hm. \n\nHalf", code="upstream_interrupted")
    assert live(run) == rebuilt(run)
    [again] = ask("Again", session=session)
    deliver(again).result(60)
    assert [m["role"][0] for m in upstream.requests[-1].messages] == ["s", "u", "a", "t", "a", "u"]


def test_a_deadline_that_passes_while_a_tool_runs(ask, deliver, upstream, session, scripted_tool):
    upstream.reply(
        {"reasoning": "Hm."}, {"text": "I act. "}, {"call": {"name": "act", "arguments": {"what": "wait"}}}
    )
    [run] = ask("Go", session=session, deadline=timezone.now() + timedelta(seconds=3))
    deliver(run).result(60)
    ended(run, Status.FAILED, text="I act. ", code="deadline_exceeded")
    assert (scripted_tool.left, ToolCall.objects.get(run=run).status) == (1, "unknown")
    assert live(run) == rebuilt(run)


def test_a_call_written_as_text_runs_and_is_not_shown(ask, deliver, upstream, session, scripted_tool):
    written = '<function_calls>\n<invoke name="act">\n<parameter name="what">this</parameter>\n</invoke>\n</function_calls>'
    upstream.reply(
        {"text": "Hm. "}, *[{"text": written[at : at + 7]} for at in range(0, len(written), 7)], times=1
    )
    upstream.reply({"text": f"I wrote {written}."})
    [run] = ask("Go", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text=f"Hm. \n\nI wrote {written}.")
    assert scripted_tool.ran == [{"what": "this"}]
    assert [m["role"][0] for m in upstream.requests[1].messages] == ["s", "u", "a", "t"]
    assert live(run) == rebuilt(run)


def test_without_any_tool_a_call_is_answered_as_unavailable_and_the_loop_goes_on(ask, deliver, upstream):
    upstream.reply({"call": {"name": "web_search", "arguments": {"queries": ["tides"]}}}, times=1)
    upstream.reply({"text": "Well."})
    [run] = ask("Go")
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Well.")
    [response] = [m["content"] for m in upstream.requests[1].messages if m["role"] == "tool"]
    assert response == "There is no tool named web_search."
    assert live(run) == rebuilt(run)


def test_a_model_that_calls_what_is_not_offered_again_and_again_is_ended(ask, deliver, upstream, settings):
    settings.MAX_LLM_CYCLES = 3
    upstream.reply({"call": {"name": "web_search", "arguments": {}}})
    [run] = ask("Go")
    deliver(run).result(60)
    ended(run, Status.FAILED, code="empty_response")
    assert len(upstream.requests) == 3


def test_ids_that_are_sent_have_at_most_40_characters(ask, deliver, upstream, session):
    upstream.reply({"call": {"name": "act", "arguments": {}, "id": "call_" + "x" * 140}}, times=1)
    upstream.reply({"text": "Well."})
    [run] = ask("Go", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Well.")
    [called] = [one["id"] for m in upstream.requests[1].messages for one in m.get("tool_calls", ())]
    [answered] = [m["tool_call_id"] for m in upstream.requests[1].messages if m["role"] == "tool"]
    assert called == answered
    assert len(called) <= 40
