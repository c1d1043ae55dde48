"""Turns with tools, from the model's calls to rows, packets and the next request."""

import json

import pytest

from chat.models import ModelConfig, ToolCall
from chat.protocol.call_answers import CallFacts
from chat.protocol.states import Status
from chat.protocol.wire import SectionEnd
from chat.sessions.portable.exporter import as_json
from tests import factories
from tests.llm_worker.outcomes import ended
from tests.llm_worker.screens import live, rebuilt
from tests.tool_fixtures import tool_responses

NOW = {"call": {"name": "current_time", "arguments": {}}}
TOKYO = {"call": {"name": "current_time", "arguments": {"timezone": "Asia/Tokyo"}}}


def asked(upstream) -> list[str]:
    """The roles of each request, its system prompt left out."""
    return [" ".join(message["role"][0] for message in request.messages[1:]) for request in upstream.requests]


@pytest.fixture
def clock(agent_session):
    return agent_session(tools=["current_time"])


def test_a_tool_runs_and_the_model_continues_with_its_response(ask, deliver, upstream, clock):
    upstream.reply({"text": "Let me look. "}, NOW, times=1)
    upstream.reply({"text": "It is late."})
    [run] = ask("What time is it?", session=clock)
    assert deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Let me look. \n\nIt is late.")
    assert asked(upstream) == ["u", "u a t"]
    call = ToolCall.objects.get(run=run)
    assert (call.name, call.status, call.turn_number, call.tab_index) == ("current_time", "completed", 0, 0)
    assert call.text_before == "Let me look. "
    assert run.cycles == 2
    assert tool_responses(upstream.requests[1]) == [call.response]
    assert live(run) == rebuilt(run)


def test_the_facts_of_a_call_are_the_same_in_packets_in_messages_and_in_the_file(
    ask, deliver, upstream, clock
):
    upstream.reply(NOW, times=1)
    upstream.reply({"text": "It is late."})
    [run] = ask("What time is it?", session=clock)
    deliver(run).result(60)
    screen = live(run)
    assert screen == rebuilt(run)
    [end] = [
        obj for objs in screen.values() for obj in objs if isinstance(obj, SectionEnd) and obj.tool_call_id
    ]
    facts = {name: getattr(end, name) for name in CallFacts.__struct_fields__}
    assert facts["duration_ms"] is not None
    session = run.turn.session
    messages = factories.api_client(session.owner).get(f"/api/sessions/{session.pk}/messages/").json()
    file = json.loads(b"".join(as_json(session)))
    for message in (messages[-1], file["messages"][-1]):
        [call] = message["tool_calls"]
        assert {name: call.get(name) for name in facts} == facts


def test_parallel_calls_are_one_message_with_a_response_each(ask, deliver, upstream, clock):
    upstream.reply({"reasoning": "Two zones."}, NOW, TOKYO, times=1)
    upstream.reply({"reasoning": "Now I know."}, {"text": "Done."})
    [run] = ask("Here and there?", session=clock)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Done.")
    assert asked(upstream) == ["u", "u a t t"]
    called = upstream.requests[1].messages[2]
    assert [call["id"] for call in called["tool_calls"]] == [
        message["tool_call_id"] for message in upstream.requests[1].messages if message["role"] == "tool"
    ]
    # What DeepSeek and Kimi refuse to go on without.
    assert called["reasoning_content"] == "Two zones."
    assert list(ToolCall.objects.filter(run=run).values_list("tab_index", "reasoning")) == [
        (0, "Two zones."),
        (1, "Two zones."),
    ]
    assert run.message.reasoning == "Now I know."
    screen = live(run)
    assert screen == rebuilt(run)
    kinds = [[obj.__struct_config__.tag for obj in screen[place]] for place in sorted(screen, key=str)]
    assert [
        "top_level_branching",
        "tool_start",
        "tool_arguments",
        "tool_output",
        "section_end",
    ] in kinds


def test_the_next_turn_omits_responses_and_keeps_arguments(ask, deliver, upstream, clock):
    upstream.reply(TOKYO, times=1)
    upstream.reply({"text": "Late."})
    for question in ("When?", "And now?"):
        [run] = ask(question, session=clock)
        deliver(run).result(60)
    assert asked(upstream) == ["u", "u a t", "u a t a u"]
    assert json.loads(upstream.requests[2].messages[2]["tool_calls"][0]["function"]["arguments"]) == {
        "timezone": "Asia/Tokyo"
    }
    assert "no longer available" in tool_responses(upstream.requests[2])[0]


@pytest.mark.parametrize(
    ("call", "says"),
    [
        pytest.param({"name": "fly", "arguments": {}}, "no tool named fly", id="unknown"),
        pytest.param({"name": "current_time", "arguments": "{oops"}, "JSON", id="broken arguments"),
        pytest.param({"name": "current_time", "arguments": {"timezone": "Moon"}}, "Moon", id="it raises"),
    ],
)
def test_a_call_that_cannot_run_gets_a_one_sentence_response(ask, deliver, upstream, clock, call, says):
    upstream.reply({"call": call}, times=1)
    upstream.reply({"text": "Then not."})
    [run] = ask("Go", session=clock)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Then not.")
    assert says in tool_responses(upstream.requests[1])[0]
    assert ToolCall.objects.get(run=run).status == "failed"
    assert live(run) == rebuilt(run)


def test_arguments_encoded_twice_are_understood(ask, deliver, upstream, clock):
    upstream.reply(
        {"call": {"name": "current_time", "arguments": json.dumps('{"timezone": "Asia/Tokyo"}')}}, times=1
    )
    upstream.reply({"text": "There."})
    [run] = ask("Go", session=clock)
    deliver(run).result(60)
    assert ToolCall.objects.get(run=run).arguments == {"timezone": "Asia/Tokyo"}


def test_the_last_cycle_may_not_call_tools_and_has_a_reminder(ask, deliver, upstream, clock, settings):
    settings.MAX_LLM_CYCLES = 3
    upstream.reply(NOW, times=2)
    upstream.reply({"text": "Enough."})
    [run] = ask("Go", session=clock)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="Enough.")
    assert [request.body["tool_choice"] for request in upstream.requests] == ["auto", "auto", "none"]
    assert upstream.requests[2].body["tools"] == upstream.requests[0].body["tools"]
    assert asked(upstream)[2] == "u a t a t u"
    assert "<sent_at>" not in upstream.requests[2].messages[-1]["content"]


def test_a_model_without_tool_choice_gets_no_tools_in_the_last_cycle(ask, deliver, upstream, clock, settings):
    settings.MAX_LLM_CYCLES = 2
    ModelConfig.objects.create(name="plain", base_url=upstream.base_url, supports_tool_choice_none=False)
    upstream.reply(NOW, times=1)
    upstream.reply({"text": "Enough."})
    [run] = ask("Go", "plain", session=clock)
    deliver(run).result(60)
    assert ["tools" in request.body for request in upstream.requests] == [True, False]


def test_a_forced_tool_is_the_only_tool_of_the_first_cycle(ask, deliver, upstream, agent_session):
    session = agent_session(tools=["current_time", "research_agent"])
    upstream.reply(NOW, times=1)
    upstream.reply({"text": "So."})
    [run] = ask("Go", session=session, forced_tool="current_time")
    deliver(run).result(60)
    first, second = upstream.requests
    assert first.body["tool_choice"] == "required"
    assert [tool["function"]["name"] for tool in first.body["tools"]] == ["current_time"]
    assert second.body["tool_choice"] == "auto"
    assert len(second.body["tools"]) == 2


def test_a_forced_tool_that_is_not_offered_ends_the_run_before_any_request(ask, deliver, upstream, clock):
    [run] = ask("Go", session=clock, forced_tool="fly")
    deliver(run).result(60)
    ended(run, Status.FAILED, code="tool_unknown")
    assert upstream.requests == []


def test_a_forced_tool_that_is_not_set_up_any_more_is_named_as_such(ask, deliver, upstream, clock, settings):
    settings.WEB_SEARCH_URL = ""
    [run] = ask("Go", session=clock, forced_tool="web_search")
    deliver(run).result(60)
    ended(run, Status.FAILED, code="tool_not_configured")
    assert upstream.requests == []


def test_without_an_agent_no_tools_are_offered(ask, deliver, upstream):
    [run] = ask("Go")
    deliver(run).result(60)
    assert "tools" not in upstream.requests[0].body


def test_a_call_written_as_text_runs_once_a_turn_and_is_not_shown(ask, deliver, upstream, clock):
    written = '{"name": "current_time", "arguments": {"timezone": "Asia/Tokyo"}}'
    upstream.reply({"text": "Let me see. "}, {"text": written[:20]}, {"text": written[20:]}, times=1)
    upstream.reply({"text": written})
    [run] = ask("When?", session=clock)
    deliver(run).result(60)
    seen = ended(run, Status.COMPLETED)
    assert seen.text == "Let me see. \n\n" + written
    assert ToolCall.objects.get(run=run).arguments == {"timezone": "Asia/Tokyo"}
    assert live(run) == rebuilt(run)
