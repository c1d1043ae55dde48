"""Turns that search: documents get numbers, answers cite them, agents search inside. From the model's calls to rows,
packets and the next request."""

import json

import pytest

from chat.models import CitedDocument, ToolCall
from chat.protocol.states import Status
from chat.protocol.wire import CitationInfo, MessageDelta
from tests.llm_worker.outcomes import ended
from tests.llm_worker.screens import entries, live, rebuilt
from tests.tool_fixtures import MOON, RESEARCH, SEA, SUN, document_numbers, search_call, tool_responses

ALL = ["current_time", "research_agent", "web_search"]


@pytest.fixture
def session(agent_session, searching):
    searching.find(MOON, SUN, query="moon")
    searching.find(SUN, SEA, query="sea")
    return agent_session(tools=ALL)


def cited(run) -> list[tuple[int, str]]:
    return list(CitedDocument.objects.filter(message=run.message_id).values_list("number", "url"))


def test_documents_are_numbered_once_in_a_turn_and_cited_as_links(ask, deliver, upstream, session):
    upstream.reply(search_call("moon"), times=1)
    upstream.reply({"text": "First [1]. "}, search_call("sea"), times=1)
    upstream.reply({"text": "Moon [1"}, {"text": "], sea 【3】, sun [2, 9], venus [7]."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    ended(
        run,
        Status.COMPLETED,
        text="First [[1]](https://moon.example/). \n\nMoon [[1]](https://moon.example/), "
        "sea [[3]](https://sea.example/), sun [2, 9], venus [7].",
    )
    first, second = tool_responses(upstream.requests[2])
    assert document_numbers(first) == [(1, "Moon"), (2, "Sun")]
    assert document_numbers(second) == [(2, "Sun"), (3, "Sea")]
    assert cited(run) == [(1, MOON["url"]), (3, SEA["url"])]
    assert live(run) == rebuilt(run)


def test_the_response_of_a_search_is_the_json_of_its_documents_alone(ask, deliver, upstream, session):
    upstream.reply(search_call("moon"), times=1)
    upstream.reply({"text": "So."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    [response] = tool_responses(upstream.requests[1])
    assert list(json.loads(response)) == ["documents"]


def test_a_citation_is_announced_once_before_the_text_that_links_to_it(ask, deliver, upstream, session):
    upstream.reply(search_call("moon"), times=1)
    upstream.reply({"text": "So [1]. Again [1]."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    run.refresh_from_db()
    shown = [packet.obj for packet in entries(run) if isinstance(packet.obj, CitationInfo | MessageDelta)]
    assert [type(obj) for obj in shown].count(CitationInfo) == 1
    announced = next(place for place, obj in enumerate(shown) if isinstance(obj, CitationInfo))
    assert "".join(obj.text for obj in shown[:announced]) == "So "


def test_numbers_go_on_in_the_next_turn(ask, deliver, upstream, session):
    upstream.reply(search_call("moon"), times=1)
    upstream.reply({"text": "Moon [1]."}, times=1)
    upstream.reply(search_call("sea"), times=1)
    upstream.reply({"text": "Sun [3], moon [1]."}, times=1)
    runs = []
    for question in ("Why?", "And the sea?"):
        runs += ask(question, session=session)
        deliver(runs[-1]).result(60)
    assert document_numbers(tool_responses(upstream.requests[3])[1]) == [(3, "Sun"), (4, "Sea")]
    # The documents of the turn before are not in this request: their numbers stand for nothing.
    ended(runs[1], Status.COMPLETED, text="Sun [[3]](https://sun.example/), moon [1].")
    assert live(runs[1]) == rebuilt(runs[1])


def test_parallel_searches_are_one_call(ask, deliver, upstream, session, searching):
    upstream.reply(
        search_call("moon"), {"call": {"name": "current_time", "arguments": {}}}, search_call("sea"), times=1
    )
    upstream.reply({"text": "So."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    assert sorted(searching.queries) == ["moon", "sea"]
    called = upstream.requests[1].messages[2]["tool_calls"]
    assert [call["function"]["name"] for call in called] == ["web_search", "current_time"]
    assert json.loads(called[0]["function"]["arguments"]) == {"queries": ["moon", "sea"]}
    assert len(tool_responses(upstream.requests[1])) == 2
    assert list(ToolCall.objects.filter(run=run).values_list("tab_index", "name")) == [
        (0, "web_search"),
        (1, "current_time"),
    ]
    ended(run, Status.COMPLETED)
    assert live(run) == rebuilt(run)


def test_an_answer_of_unknown_numbers_only_is_shown_unchanged(ask, deliver, upstream, session):
    upstream.reply(search_call("moon"), times=1)
    upstream.reply({"text": "[7] [8]"})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="[7] [8]")
    assert live(run) == rebuilt(run)


def test_without_documents_numbers_in_brackets_are_text(ask, deliver, upstream, session):
    upstream.reply(search_call("nothing"), times=1)
    upstream.reply({"text": "See [1] and [[2]]."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="See [1] and [[2]].")
    assert cited(run) == []


REMINDER = "Documents have been found."


def last_messages(upstream):
    return [request.messages[-1]["content"] for request in upstream.requests]


def test_a_search_without_documents_is_followed_by_no_reminder(ask, deliver, upstream, session):
    upstream.reply(search_call("nothing"), times=1)
    upstream.reply({"text": "So."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED)
    assert last_messages(upstream)[1] == "The web search found nothing."


def test_a_refused_search_is_followed_by_no_reminder(ask, deliver, upstream, session, searching):
    upstream.reply({"call": {"name": "web_search", "arguments": {"query": 7}}}, times=1)
    upstream.reply({"text": "So."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    assert searching.queries == []
    assert last_messages(upstream)[1].startswith("web_search was not run")


def test_an_empty_search_after_one_with_documents_keeps_the_reminder(ask, deliver, upstream, session):
    upstream.reply(search_call("moon"), times=1)
    upstream.reply(search_call("nothing"), times=1)
    upstream.reply({"text": "So."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    assert [text.startswith(REMINDER) for text in last_messages(upstream)] == [False, True, True]


@pytest.mark.parametrize(("query", "is_reminded"), [("sea", True), ("nothing", False)])
def test_what_an_agent_finds_inside_decides_its_own_reminder_and_the_outer_one(
    ask, deliver, upstream, session, query, is_reminded
):
    upstream.reply(RESEARCH, times=1)
    upstream.reply(search_call(query), contains="Who pulls", times=1)
    upstream.reply({"text": "A report."}, contains="Who pulls", times=1)
    upstream.reply({"text": "So."})
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    reminded = [text.startswith(REMINDER) for text in last_messages(upstream)]
    assert reminded == [False, False, is_reminded, is_reminded]


def test_after_documents_were_found_every_request_of_the_turn_ends_with_a_reminder(
    ask, deliver, upstream, session
):
    upstream.reply(search_call("moon"), times=1)
    upstream.reply({"call": {"name": "current_time", "arguments": {}}}, times=1)
    upstream.reply({"text": "So."})
    for question in ("Why?", "And?"):
        [run] = ask(question, session=session)
        deliver(run).result(60)
    roles = [" ".join(message["role"][0] for message in each.messages) for each in upstream.requests]
    assert roles == ["s u", "s u a t u", "s u a t a t u", "s u a t a t a u"]
    assert "Documents have been found." in upstream.requests[1].messages[-1]["content"]
    assert upstream.requests[1].messages[-1] == upstream.requests[2].messages[-1]
    assert "<sent_at>" in upstream.requests[3].messages[-1]["content"]


def agent_at_work(upstream):
    """The run's model asks an agent, which thinks, speaks, searches, and reports."""
    upstream.reply({"reasoning": "Hm."}, {"text": "One moment. "}, RESEARCH, times=1)
    upstream.reply(
        {"reasoning": "Inside."}, {"text": "I look. "}, search_call("sea"), contains="Who pulls", times=1
    )
    upstream.reply({"reasoning": "Enough."}, {"text": "The sun [1] does."}, contains="Who pulls", times=1)
    upstream.reply({"reasoning": "I see."}, {"text": "It is the sun [1]."})


def test_an_agent_searches_inside_its_call_and_its_documents_can_be_cited_outside(
    ask, deliver, upstream, session, searching
):
    agent_at_work(upstream)
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    ended(run, Status.COMPLETED, text="One moment. \n\nIt is the sun [[1]](https://sun.example/).")
    assert searching.queries == ["sea"]
    outer, inner = (
        ToolCall.objects.get(run=run, message=run.message),
        ToolCall.objects.get(run=run, message=None),
    )
    assert (outer.name, outer.response, outer.report) == (
        "research_agent",
        "The sun [1] does.",
        "The sun [1] does.",
    )
    assert (inner.parent_tool_call, inner.name, inner.text_before, inner.reasoning) == (
        outer,
        "web_search",
        "I look. ",
        "Inside.",
    )
    assert (outer.report_reasoning, run.message.reasoning) == ("Enough.", "I see.")
    assert cited(run) == [(1, SUN["url"])]
    assert live(run) == rebuilt(run)
    assert run.cycles == 4


def test_packets_of_an_agents_inner_loop_are_placed_inside_its_call(ask, deliver, upstream, session):
    agent_at_work(upstream)
    [run] = ask("Why?", session=session)
    deliver(run).result(60)
    run.refresh_from_db()
    inside = [packet for packet in entries(run) if packet.placement.sub_turn_index is not None]
    tool = next(p for p in entries(run) if p.obj.__struct_config__.tag == "tool_start").placement
    assert {(p.placement.turn_index, p.placement.tab_index) for p in inside} == {(tool.turn_index, 0)}
    kinds: dict[int, list[str]] = {}
    for packet in inside:
        shown = kinds.setdefault(packet.placement.sub_turn_index, [])
        if packet.obj.__struct_config__.tag not in shown:
            shown.append(packet.obj.__struct_config__.tag)
    assert kinds == {
        0: ["reasoning_start", "reasoning_delta", "reasoning_done"],
        1: ["report_start", "report_delta", "section_end"],
        2: ["tool_start", "tool_arguments_delta", "tool_arguments", "tool_output", "section_end"],
        3: ["reasoning_start", "reasoning_delta", "reasoning_done"],
        4: ["report_start", "report_delta", "section_end"],
    }


def test_an_agent_does_not_see_the_conversation_and_later_turns_do_not_see_its_calls(
    ask, deliver, upstream, session
):
    agent_at_work(upstream)
    for question in ("Why?", "And?"):
        [run] = ask(question, session=session)
        deliver(run).result(60)
    inner = upstream.requests[1]
    assert [message["role"] for message in inner.messages] == ["system", "user"]
    assert "Why?" not in json.dumps(inner.messages)
    assert sorted(tool["function"]["name"] for tool in inner.body["tools"]) == [
        "current_time",
        "open_url",
        "web_search",
    ]
    after = upstream.requests[4].messages
    assert [message["role"] for message in after] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert "Inside." not in json.dumps(after)
    assert "I look." not in json.dumps(after)
