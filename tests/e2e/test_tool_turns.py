"""Turns with tools from end to end: what the model is sent, what readers are shown, what is read afterwards."""

import asyncio
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
import redis

from chat.log.stream import run_log
from tests.e2e.client import Client, Frame, RunView, Socket
from tests.e2e.comparison import blocks_by_placement, calls_and_responses, contents_of_role, message_kinds
from tests.stack import Stack
from tests.tool_fixtures import MOON, RESEARCH, SEA, SUN, search_call, streamed_call

pytestmark = pytest.mark.e2e

PROMPT = "You know the sea."
TOOLS = ["web_search", "current_time", "research_agent"]
NOW = {"call": {"name": "current_time", "arguments": {"timezone": "Asia/Tokyo"}}}
GONE = "no longer available"


@dataclass
class Chat:
    """Alice's session with an agent, watched by one tab."""

    client: Client
    socket: Socket
    session: Frame
    agent: Frame

    async def start(self, text: str, **body: Any) -> Frame:
        return await self.client.ask(self.session, text, **body)

    async def ask(self, text: str, **body: Any) -> RunView:
        return await self.end(await self.start(text, **body))

    async def end(self, turn: Frame) -> RunView:
        view = await self.socket.ended(turn["runs"][0]["id"])
        await self.socket.until(lambda: turn["turn"] in self.socket.stopped_turns, "overall_stop")
        return view

    def packets(self, turn: Frame) -> list[Frame]:
        return [frame for frame in self.socket.of_type("packet") if frame["run"] == turn["runs"][0]["id"]]

    async def answer(self) -> Frame:
        return (await self.client.branch(self.session))[-1]


@pytest.fixture
async def chat_with(stack: Stack) -> AsyncIterator[Any]:
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        stack.searching.find(MOON, SEA, query="moon")
        stack.searching.find(SEA, SUN, query="sea")

        async def chat_with(**fields: Any) -> Chat:
            given = {"name": "Sailor", "prompt": PROMPT, "tools": TOOLS} | fields
            agent = await alice.call("POST", "agents/", json=given, status=201)
            session = await alice.new_session(agent=agent["id"])
            await socket.subscribe(session["id"])
            return Chat(alice, socket, session, agent)

        yield chat_with


def of_kind(packets: list[Frame], kind: str, *, inside: bool = False) -> list[Frame]:
    return [
        packet
        for packet in packets
        if packet["obj"]["type"] == kind and (packet["placement"]["sub_turn_index"] is not None) == inside
    ]


async def play_everything(stack: Stack, chat: Chat) -> tuple[Frame, RunView]:
    """Reasoning, narration, parallel tools, merged searches, an agent that searches, citations."""
    stack.upstream.reply({"reasoning": "Plan."}, {"text": "Let me see. "}, search_call("moon"), NOW, search_call("sea"),
                         RESEARCH, times=1)  # fmt: skip
    # So that the outer search's documents have the first numbers.
    stack.upstream.reply({"wait": "the outer search"}, {"reasoning": "Inside."}, {"text": "I look. "},
                         search_call("sea"), contains="Who pulls", times=1)  # fmt: skip
    stack.upstream.reply({"text": "The sun does, too [3]."}, contains="Who pulls")
    stack.upstream.reply(
        {"reasoning": "I see."}, {"text": "The moon [1"}, {"text": "], the sun 【3】, nobody [9]."}
    )
    turn = await chat.start("Why are there tides?")
    await chat.socket.until(
        lambda: any("documents" in packet["obj"] for packet in of_kind(chat.packets(turn), "tool_output")),
        "the outer search",
    )
    stack.upstream.release("the outer search")
    return turn, await chat.end(turn)


async def test_everything_at_once_is_shown_and_stored(stack: Stack, chat_with: Any) -> None:
    chat = await chat_with()
    turn, view = await play_everything(stack, chat)
    assert view.text == (
        "Let me see. \n\nThe moon [[1]](https://moon.example/), the sun [[3]](https://sun.example/), nobody [9]."
    )
    assert (view.reasoning, view.stop_reason) == ("I see.", "finished")
    assert sorted(stack.searching.queries) == ["moon", "sea", "sea"]

    packets = chat.packets(turn)
    [branching] = of_kind(packets, "top_level_branching")
    assert branching["obj"]["count"] == 3
    started = [
        (packet["placement"]["tab_index"], packet["obj"]["name"]) for packet in of_kind(packets, "tool_start")
    ]
    assert started == [(0, "web_search"), (1, "current_time"), (2, "research_agent")]
    places = [packet["placement"]["turn_index"] for packet in of_kind(packets, "tool_start")]
    assert places == [branching["placement"]["turn_index"]] * 3
    assert len(of_kind(packets, "section_end")) == 3 + 2  # the calls, the narration and the answer
    inside = [packet["placement"] for packet in packets if packet["placement"]["sub_turn_index"] is not None]
    assert {(place["turn_index"], place["tab_index"]) for place in inside} == {(places[0], 2)}
    assert "".join(p["obj"]["text"] for p in of_kind(packets, "report_delta", inside=True)) == (
        "I look. The sun does, too [3]."
    )

    answer = await chat.answer()
    assert (answer["text"], answer["reasoning"], answer["status"]) == (view.text, view.reasoning, "completed")
    told = [packet["obj"] for packet in of_kind(packets, "citation_info")]
    assert answer["citations"] == [{k: v for k, v in one.items() if k != "type"} for one in told]
    assert [one["number"] for one in told] == [1, 3]
    assert_calls_as_shown(answer["tool_calls"], packets)


def assert_calls_as_shown(calls: list[Frame], packets: list[Frame]) -> None:
    """The calls of the message are those of the stream."""
    assert [call["name"] for call in calls] == ["web_search", "current_time", "research_agent"]
    assert {call["status"] for call in calls} == {"completed"}
    assert {(call["turn_number"], call["text_before"], call["reasoning"]) for call in calls} == {
        (0, "Let me see. ", "Plan.")
    }
    shown = {packet["obj"]["tool_call_id"]: packet for packet in of_kind(packets, "tool_output")}
    for call in calls:
        packet = shown[call["tool_call_id"]]
        assert packet["placement"]["tab_index"] == call["tab_index"]
        if "documents" in call:
            assert [one["number"] for one in call["documents"]] == [
                one["number"] for one in packet["obj"]["documents"]
            ]
        else:
            assert call["response"] == packet["obj"]["output"]
    arguments = {
        packet["obj"]["tool_call_id"]: packet["obj"] for packet in of_kind(packets, "tool_arguments")
    }
    assert all(arguments[call["tool_call_id"]]["arguments"] == call["arguments"] for call in calls)
    assert calls[0]["arguments"] == {"queries": ["moon", "sea"]}
    [inner] = calls[2]["children"]
    assert (inner["name"], inner["text_before"], inner["reasoning"]) == ("web_search", "I look. ", "Inside.")
    assert [call["children"] for call in calls[:2]] == [[], []]


async def test_the_log_and_what_replaces_it_show_the_same_screen(stack: Stack, chat_with: Any) -> None:
    chat = await chat_with()
    turn, _ = await play_everything(stack, chat)
    run = turn["runs"][0]["id"]
    logged = await chat.client.call("GET", f"runs/{run}/packets/")
    assert logged["complete"]
    assert [packet["seq"] for packet in logged["packets"]] == list(range(1, len(logged["packets"]) + 1))
    assert [packet["obj"] for packet in logged["packets"]] == [packet["obj"] for packet in chat.packets(turn)]

    log = run_log(chat.session["id"], run)
    with redis.Redis.from_url(stack.environment["REDIS_URL"]) as store:
        assert store.delete(log.meta, log.entries) == 2
    rebuilt = await chat.client.call("GET", f"runs/{run}/packets/")
    assert rebuilt["complete"]
    assert blocks_by_placement(rebuilt["packets"]) == blocks_by_placement(logged["packets"])
    view = RunView()
    for packet in rebuilt["packets"]:
        view.packet(packet)
    assert view.stop_reason == "finished"


async def test_a_call_is_shown_while_the_model_writes_it_to_whoever_joins(
    stack: Stack, chat_with: Any
) -> None:
    chat = await chat_with()
    question = ['{"question": "W', "ho", {"wait": "the rest"}, ' pulls?"}']
    stack.upstream.reply(
        {"text": "I ask. "}, *streamed_call("research_agent", *question), contains="Why", times=1
    )
    stack.upstream.reply({"text": "The sun."}, contains="Who pulls")
    stack.upstream.reply({"text": "The sun, I hear."}, after_tools=1)
    turn = await chat.start("Why?")
    run = turn["runs"][0]["id"]
    [written] = await chat.socket.until(
        lambda: of_kind(chat.packets(turn), "tool_arguments_delta"), "the first arguments"
    )
    assert stack.upstream.requests[0].ended is None
    assert written["obj"]["text"] == '{"question": "Who'
    [start] = of_kind(chat.packets(turn), "tool_start")
    answer = await chat.answer()
    assert (answer["text"], answer["tool_calls"]) == ("I ask. ", [])
    assert answer["cursor"]["seq"] < start["seq"]
    async with chat.client.socket() as late:
        late.runs[run] = RunView()
        late.runs[run].reset(**answer["cursor"], message=answer)
        await late.subscribe(chat.session["id"], cursors=late.cursors())
        await late.until(lambda: written in late.of_type("packet"), "what is being written")
        stack.upstream.release("the rest")
        view = await chat.end(turn)
        await late.ended(run)
        packets = chat.packets(turn)
        assert late.of_type("packet") == packets[answer["cursor"]["seq"] :]
    assert view.text == "I ask. \n\nThe sun, I hear."
    [given] = of_kind(packets, "tool_arguments")
    pieces = [packet["obj"]["text"] for packet in of_kind(packets, "tool_arguments_delta")]
    assert json.loads("".join(pieces)) == given["obj"]["arguments"] == {"question": "Who pulls?"}


async def test_the_model_sees_each_message_where_it_belongs(stack: Stack, chat_with: Any) -> None:
    chat = await chat_with()
    await play_everything(stack, chat)
    outer, inner, reporting, answering = stack.upstream.requests
    assert [message_kinds(request) for request in (outer, answering)] == ["S CA U", "S CA U TC TR TR TR R"]
    assert message_kinds(inner) == "S U"
    assert message_kinds(reporting) == "S U TC TR R"
    assert answering.messages[:3] == outer.messages
    for request in stack.upstream.requests:
        called, answered = calls_and_responses(request)
        assert called == answered
        names = [tool["function"]["name"] for tool in request.body["tools"]]
        assert names == sorted(names)
        assert request.body["tool_choice"] == "auto"
        # Reasoning goes back with the calls that it led to, and nowhere else.
        thoughts = [message for message in request.messages if message.pop("reasoning_content", None)]
        assert all("tool_calls" in message for message in thoughts)
        assert "Plan." not in json.dumps(request.messages)
        assert "Inside." not in json.dumps(request.messages)
    assert outer.body["tools"] == answering.body["tools"]
    assert "research_agent" not in [tool["function"]["name"] for tool in inner.body["tools"]]
    called = answering.messages[3]
    assert called["content"] == "Let me see. "
    found, time, report = contents_of_role(answering, "tool")
    assert [one["document"] for one in json.loads(found)["documents"]] == [1, 2, 3]
    assert "(Asia/Tokyo)" in time
    assert report == "The sun does, too [3]."


async def test_later_turns_see_the_calls_and_one_sentence_for_what_came_back(
    stack: Stack, chat_with: Any
) -> None:
    chat = await chat_with()
    await play_everything(stack, chat)
    outer, *_, answering = stack.upstream.requests
    called = answering.messages[3]
    stack.upstream.rules.clear()
    stack.upstream.reply(NOW, times=1)
    stack.upstream.reply({"text": "Still."}, times=2)
    await chat.ask("And now?")
    await chat.ask("And then?")
    again, with_time, later = stack.upstream.requests[4:]
    assert message_kinds(again) == "S U TC TR TR TR A CA U"
    assert message_kinds(with_time) == "S U TC TR TR TR A CA U TC TR"
    assert message_kinds(later) == "S U TC TR TR TR A U TC TR A CA U"
    assert again.messages[0] == outer.messages[0] == later.messages[0]
    assert again.messages[1] == outer.messages[2]
    assert again.messages[2] == called
    assert len(set(contents_of_role(again, "tool"))) == 1
    assert GONE in contents_of_role(again, "tool")[0]
    assert contents_of_role(later, "tool") == contents_of_role(again, "tool")[:1] * 4
    answers = [m["content"] for m in again.messages if m["role"] == "assistant" and "tool_calls" not in m]
    assert answers == [
        "The moon [[1]](https://moon.example/), the sun [[3]](https://sun.example/), nobody [9]."
    ]
    assert with_time.messages[: len(again.messages)] == again.messages


async def test_a_forced_tool_is_alone_and_required_once(stack: Stack, chat_with: Any) -> None:
    chat = await chat_with()
    stack.upstream.reply(search_call("moon"), times=1)
    stack.upstream.reply({"text": "Moon [1]."})
    await chat.ask("Go", forced_tool="web_search")
    first, second = stack.upstream.requests
    assert [tool["function"]["name"] for tool in first.body["tools"]] == ["web_search"]
    assert (first.body["tool_choice"], second.body["tool_choice"]) == ("required", "auto")
    assert [tool["function"]["name"] for tool in second.body["tools"]] == sorted(TOOLS)
    assert first.messages[0] == second.messages[0]
    refused = await chat.client.call(
        "POST", f"sessions/{chat.session['id']}/turns/", json={"text": "Go", "forced_tool": "fly"}, status=400
    )
    assert refused["code"] == "tool_unknown"


async def test_what_is_known_of_a_turn_stands_above_its_question_in_this_turn_alone(
    stack: Stack, chat_with: Any
) -> None:
    chat = await chat_with()
    stack.upstream.reply(NOW, times=1)
    stack.upstream.reply({"text": "Well."})
    await chat.ask("Where am I?", additional_context="  The user is in port 7.  ")
    await chat.ask("And now?")
    first, second, third = stack.upstream.requests
    assert [message_kinds(request) for request in (first, second, third)] == [
        "S CA D U",
        "S CA D U TC TR",
        "S U TC TR A CA U",
    ]
    assert "The user is in port 7." in first.messages[2]["content"]
    assert "untrusted" in first.messages[2]["content"]
    assert second.messages[:4] == first.messages
    assert "port 7" not in json.dumps(third.messages)
    question, *_ = await chat.client.branch(chat.session)
    assert question["text"] == "Where am I?"


@pytest.mark.parametrize(
    ("fields", "sees", "begins"),
    [
        pytest.param({}, "S CA U", "You are a helpful", id="it moves"),
        pytest.param({"prompt": ""}, "S U", "You are a helpful", id="none"),
        pytest.param({"replaces_system_prompt": True}, "S U", PROMPT, id="it replaces"),
        pytest.param({"replaces_system_prompt": True, "prompt": ""}, "U", "", id="replaced by nothing"),
        pytest.param({"reminder": "Be brief."}, "S CA U R", "You are a helpful", id="reminder"),
    ],
)
async def test_an_agents_prompt_has_its_place(
    stack: Stack, chat_with: Any, fields: Frame, sees: str, begins: str
) -> None:
    chat = await chat_with(**({"tools": []} | fields))
    await chat.ask("Hello?")
    [request] = stack.upstream.requests
    assert message_kinds(request) == sees
    assert "".join(contents_of_role(request, "system")).startswith(begins)
    if "reminder" in fields:
        assert request.messages[-1]["content"] == "Be brief."
    assert "tools" not in request.body


async def test_an_agent_whose_context_only_grows_repeats_every_byte(stack: Stack, chat_with: Any) -> None:
    chat = await chat_with(context_layout="append_only")
    stack.upstream.reply(NOW, times=1)
    stack.upstream.reply({"text": "Well."})
    await chat.ask("One?")
    await chat.ask("Two?")
    await chat.client.call("PATCH", f"agents/{chat.agent['id']}/", json={"prompt": "You know the sky."})
    await chat.ask("Three?")
    one, with_time, two, three = stack.upstream.requests
    assert [message_kinds(request) for request in (one, with_time, two)] == [
        "S CA U",
        "S CA U TC TR",
        "S CA U TC TR A U",
    ]
    assert message_kinds(three, agent_prompt="You know the sky.").split()[-2:] == ["CA", "U"]
    assert two.messages[:4] == with_time.messages[:4]
    assert three.messages[: len(two.messages)] == two.messages
    texts = contents_of_role(three, "user")
    assert [texts.count(prompt) for prompt in (PROMPT, "You know the sky.")] == [1, 1]


async def test_a_system_prompt_that_is_edited_speaks_in_the_next_turn(stack: Stack, chat_with: Any) -> None:
    chat = await chat_with(tools=[])
    await chat.ask("One?")
    async with Client.login(stack.base_url, "root", "root") as staff:
        await staff.call("PUT", "system-prompt/", json={"text": "Speak like it was {{CURRENT_DATE}}."})
        try:
            await chat.ask("Two?")
            stack.upstream.wait_for_requests(2)
            await staff.call("PUT", "system-prompt/", json={"text": ""})
            await chat.ask("Three?")
        finally:
            script = "from chat.models import SystemPrompt; SystemPrompt.objects.all().delete()"
            await asyncio.to_thread(stack.manage, "shell", "-c", script)
    one, two, three = stack.upstream.requests
    assert one.messages[0]["content"].startswith("You are a helpful")
    day = chat.session["created_at"][:10]
    assert two.messages[0]["content"] == f"Speak like it was {day}."
    assert [message_kinds(request) for request in (two, three)] == ["S U A CA U", "S U A U A U"]
    assert three.messages[0]["content"] == PROMPT


async def test_what_was_used_is_counted_over_all_inferences(stack: Stack, chat_with: Any) -> None:
    chat = await chat_with()
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110,
             "prompt_tokens_details": {"cached_tokens": 60},
             "completion_tokens_details": {"reasoning_tokens": 4}}  # fmt: skip
    before = used(await chat.client.call("GET", "usage/"))
    stack.upstream.reply(RESEARCH, {"usage": usage}, times=1)
    stack.upstream.reply({"text": "A report."}, {"usage": usage}, contains="Who pulls")
    stack.upstream.reply({"text": "So."}, {"usage": usage})
    turn = await chat.start("Go")
    await chat.end(turn)
    run = await chat.client.call("GET", f"runs/{turn['runs'][0]['id']}/")
    assert run["usage"] == {
        "prompt_tokens": 300,
        "completion_tokens": 30,
        "cached_tokens": 180,
        "reasoning_tokens": 12,
        "estimated_tokens": None,
    }
    assert run["cycles"] == 3
    after = used(await chat.client.call("GET", "usage/"))
    assert (after[0] - before[0], after[1] - before[1]) == (300, 30)


def used(rows: list[Frame]) -> tuple[int, int]:
    return sum(row["prompt_tokens"] or 0 for row in rows), sum(row["completion_tokens"] or 0 for row in rows)


async def test_a_session_with_an_agent_is_named_after_its_answer(stack: Stack, chat_with: Any) -> None:
    chat = await chat_with()
    session = await chat.client.new_session(agent=chat.agent["id"], title="")
    await chat.socket.subscribe(session["id"])
    stack.upstream.reply({"text": "Pulling the Sea"}, stream=False)
    stack.upstream.reply({"text": "Let me see. "}, NOW, times=1)
    stack.upstream.reply({"text": "The moon."})
    await chat.client.ask(session, "Who pulls the sea?")
    [named] = await chat.socket.until(
        lambda: [frame for frame in chat.socket.of_type("session") if frame["session"] == session["id"]],
        "the title",
    )
    assert named["title"] == "Pulling the Sea"


async def test_a_stop_in_the_middle_of_a_search_keeps_what_was_shown(stack: Stack, chat_with: Any) -> None:
    chat = await chat_with()
    stack.searching.rules.clear()
    stack.searching.answer(hang=True)
    stack.upstream.reply({"text": "Let me see. "}, search_call("moon"), NOW, times=1)
    turn = await chat.start("Go")
    await asyncio.to_thread(stack.searching.wait_for, lambda: stack.searching.requests)
    await chat.socket.until(lambda: of_kind(chat.packets(turn), "tool_output"), "the time")
    await chat.socket.send(type="stop", run=turn["runs"][0]["id"])
    view = await chat.end(turn)
    await asyncio.to_thread(stack.searching.wait_for, lambda: stack.searching.requests[0].left)
    answer = await chat.answer()
    assert (view.stop_reason, answer["text"]) == ("user_cancelled", "Let me see. ")
    assert [call["status"] for call in answer["tool_calls"]] == ["unknown", "completed"]
    stack.upstream.reply({"text": "Well."})
    await chat.ask("And?")
    request = stack.upstream.requests[-1]
    assert message_kinds(request) == "S U TC TR CA U"
    assert calls_and_responses(request)[0] == calls_and_responses(request)[1]
