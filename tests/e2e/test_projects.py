"""Projects, end to end: the order examples with P, what fits and what is searched, from recorded requests."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from chat.transcript.tokens import count_tokens
from tests.e2e.client import Frame
from tests.e2e.file_chat import (
    AGENT_PROMPT,
    INSTRUCTIONS,
    SUMMARY,
    FileChat,
    all_documents,
    call,
    documents,
    letters,
    message_of,
    text_of,
    tools_of,
)
from tests.stack import Stack
from tests.upstream_steps import Rule

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

LEVELS = ("levels.txt", "Low water stands at two metres.")
CLOCK = {"call": {"name": "current_time", "arguments": {}}}
# What a server adds around each message, by OpenAI's rule of thumb.
AROUND = 4
# Windows that leave a history window of so many tokens, and of one more.
WINDOWS = """
from chat.models import ModelConfig
for name, window in {windows}.items():
    ModelConfig.objects.update_or_create(name=name, defaults={{"tokenizer": "cl100k_base", "context_window": window, "max_output_tokens": 1000}})
"""


async def open_with(chat: FileChat, project: str, **agent: Any) -> None:
    """A session in this project, with an agent if its fields are given."""
    body = {"project": project}
    if agent:
        given = {"name": "Tides", "prompt": AGENT_PROMPT} | agent
        body["agent"] = (await chat.client.call("POST", "agents/", json=given, status=201))["id"]
    await chat.open(**body)


async def test_project_and_upload_the_file_stays_and_project_and_agent_move(chat: FileChat) -> None:
    await open_with(chat, await chat.project(LEVELS, ("tides.txt", "Two a day.")), prompt=AGENT_PROMPT)
    await chat.turn(await chat.upload("sent-1.txt", "It was high."))
    assert letters(chat.request()) == "S CA P F1 U1"
    # The file has the first number for good; the project goes on from there, in each request anew.
    assert all_documents(chat.request().messages) == [(2, "levels.txt"), (3, "tides.txt"), (1, "sent-1.txt")]
    first = message_of(chat.request(), "F1")
    await chat.turn()
    assert letters(chat.request()) == "S F1 U1 A1 CA P U2"
    assert message_of(chat.request(), "F1") == first
    await chat.turn(await chat.upload("sent-3.txt", "It was low."))
    assert letters(chat.request()) == "S F1 U1 A1 U2 A2 CA P F3 U3"
    numbers = [number for number, _ in all_documents(chat.request().messages)]
    assert numbers == [1, 3, 4, 2]
    assert tools_of(chat.request()) == []


@pytest.mark.full
async def test_instructions_are_the_agents_prompt_where_no_agent_has_one(chat: FileChat) -> None:
    project = await chat.project(LEVELS, instructions=INSTRUCTIONS)
    await open_with(chat, project)
    await chat.turn()
    assert letters(chat.request()) == "S CA P U1"
    assert text_of(message_of(chat.request(), "CA")) == INSTRUCTIONS
    await open_with(chat, project, prompt=AGENT_PROMPT)
    await chat.turn()
    assert text_of(message_of(chat.request(), "CA")) == AGENT_PROMPT
    await open_with(chat, project, prompt="")
    await chat.turn()
    assert text_of(message_of(chat.request(), "CA")) == INSTRUCTIONS


@pytest.mark.parametrize(("prompt", "order"), [("", "P U1"), (AGENT_PROMPT, "S P U1")])
@pytest.mark.full
async def test_an_agent_that_replaces_the_system_prompt_replaces_the_instructions_too(
    chat: FileChat, prompt: str, order: str
) -> None:
    project = await chat.project(LEVELS, instructions=INSTRUCTIONS)
    await open_with(chat, project, prompt=prompt, replaces_system_prompt=True)
    await chat.turn()
    assert letters(chat.request()) == order
    assert [text_of(one) for one in chat.request().messages if one["role"] == "system"] == [prompt][
        : len(prompt)
    ]
    assert not any(INSTRUCTIONS in text_of(one) for one in chat.request().messages)


@pytest.mark.full
async def test_stored_blocks_stand_where_they_were_and_again_when_they_change(chat: FileChat) -> None:
    project = await chat.project(LEVELS)
    await open_with(chat, project, context_layout="append_only")
    await chat.turn(await chat.upload("sent-1.txt", "It was high."))
    assert letters(chat.request()) == "S CA P F1 U1"
    await chat.turn()
    assert letters(chat.request()) == "S CA P F1 U1 A1 U2"
    await chat.upload("more.txt", "Three metres.", project=project)
    await chat.turn()
    assert letters(chat.request()) == "S CA P F1 U1 A1 U2 A2 P U3"
    numbers = [number for number, _ in all_documents(chat.request().messages)]
    assert len(numbers) == len(set(numbers)) == 4, "no number stands for two documents"


@pytest.mark.full
async def test_a_tool_round_keeps_project_and_agent_above_the_question(chat: FileChat) -> None:
    await open_with(
        chat,
        await chat.project(LEVELS),
        prompt=AGENT_PROMPT,
        tools=["current_time"],
        reminder="Name the Moon.",
    )
    chat.stack.upstream.rules.insert(0, Rule([CLOCK], times=1))
    await chat.turn(await chat.upload("sent-1.txt", "It was high."), additional_context="It rains.")
    first, second = chat.request(-2), chat.request()
    assert letters(first) == "S CA P D F1 U1 R"
    assert letters(second) == "S CA P D F1 U1 TC TR R"
    assert second.messages[: len(first.messages) - 1] == first.messages[:-1]
    await chat.turn()
    assert letters(chat.request()) == "S F1 U1 TC TR A1 CA P U2 R"


@pytest.fixture
def compressing(reading: Stack) -> Iterator[Stack]:
    reading.start("compression")
    yield reading
    process = reading.processes.pop("compression")
    process.terminate()
    process.wait(30)


async def summary_of(chat: FileChat) -> Frame:
    shape: Frame = await chat.client.call("GET", f"sessions/{chat.session['id']}/compression/")
    return shape


@pytest.mark.full
async def test_everything_has_its_place(chat: FileChat, compressing: Stack) -> None:
    chat.stack.upstream.reply({"text": SUMMARY}, stream=False)
    await open_with(
        chat,
        await chat.project(LEVELS),
        prompt=AGENT_PROMPT,
        tools=["current_time"],
        reminder="Name the Moon.",
    )
    while not (await summary_of(chat))["summary"]:
        assert chat.number < 30, chat.stack.log("compression")
        await chat.turn(text=" tide" * 500, models=["compact"])
        while (await summary_of(chat))["is_under_way"]:  # noqa: ASYNC110  another process
            await asyncio.sleep(0.05)
    chat.stack.upstream.rules.insert(0, Rule([CLOCK], times=1))
    new = await chat.upload(f"sent-{chat.number + 1}.txt", "It was high.")
    await chat.turn(new, models=["compact"], additional_context="It rains.")
    first, second = letters(chat.request(-2)), letters(chat.request())
    last = chat.number
    match = re.fullmatch(rf"S SUM ((?:U\d+ A\d+ )+)CA P D F{last} U{last} R", first)
    assert match, first
    turns = re.findall(r"U(\d+) A(\d+)", match[1])
    oldest = int(turns[0][0])
    assert oldest > 1
    assert turns == [(str(number), str(number)) for number in range(oldest, last)], "none is missing"
    assert second == first.removesuffix("R") + "TC TR R"
    assert SUMMARY in text_of(message_of(chat.request(), "SUM"))


@pytest.mark.full
async def test_a_project_is_never_dropped_for_history(chat: FileChat) -> None:
    await open_with(chat, await chat.project(("levels.txt", "low" + " tide" * 1_999)))
    for _ in range(4):
        await chat.turn(text=" tide" * 1_500, models=["compact"])
        order = letters(chat.request())
        assert " P " in order
        assert order.endswith(f" U{chat.number}")
    assert not order.startswith("S U1"), "history was"


class TestTheFit:
    async def windows(self, chat: FileChat, project: str, history_tokens: int) -> None:
        """Give the model `exact` a window that leaves exactly so many tokens to history, and `roomy` one more."""
        await open_with(chat, project)
        await chat.turn()
        prompts = [text_of(message_of(chat.request(), letter)) for letter in ("S", "CA")]
        fixed = sum(count_tokens(text) + AROUND for text in prompts) + 1_000
        windows = {
            name: next(window for window in range(10**6) if int(0.95 * window) - fixed == wanted)
            for name, wanted in (("exact", history_tokens), ("roomy", history_tokens + 1))
        }
        script = WINDOWS.format(windows=windows)
        await asyncio.to_thread(chat.stack.manage, "shell", "-v", "0", "-c", script)

    @pytest.mark.full
    @pytest.mark.full
    async def test_exactly_six_tenths_of_the_history_window_do_not_fit(self, chat: FileChat) -> None:
        """A project of 3,000 tokens: of a history window of 5,000 that is 0.6, of one of 5,001 it is less."""
        text = "low" + " tide" * 2_998
        project = await chat.project(("levels.txt", text), instructions=INSTRUCTIONS)
        await self.windows(chat, project, 5_000)
        await open_with(chat, project)
        models = ["roomy", "exact"]
        await chat.turn(models=models)
        assert [letters(chat.request(model=model)) for model in models] == ["S CA P U1", "S CA P U1"]
        await chat.upload("one token.txt", " tide", project=project)
        await chat.turn(models=models)
        inlined, searched = (chat.request(model=model) for model in models)
        assert (letters(inlined), tools_of(inlined)) == ("S U1 A1 CA P U2", [])
        assert letters(searched) == "S U1 A1 CA U2"
        assert tools_of(searched) == ["read_file", "search_project"]
        assert [one["contents"] for one in documents(message_of(inlined, "P"))] == [text, " tide"]
        await chat.upload("another token.txt", " tide", project=project)
        await chat.turn(models=models)
        for model in models:
            assert tools_of(chat.request(model=model)) == ["read_file", "search_project"]
            assert " P " not in letters(chat.request(model=model)), "all or nothing"


class TestSearching:
    async def search(self, chat: FileChat, models: Sequence[str] = ("alpha", "compact"), **query: Any) -> Any:
        """A question to a model that cannot take the project and searches it; returns its last request."""
        chat.stack.upstream.rules.insert(0, Rule([call("search_project", **query)], model="compact", times=1))
        await chat.turn(models=list(models))
        return chat.request(model="compact")

    async def project(self, chat: FileChat) -> str:
        long = "Boats and sand. " * 1_500
        return await chat.project(LEVELS, ("sea.txt", f"{long}Spring tides follow the new moon. {long}"))

    @pytest.mark.full
    async def test_one_model_includes_the_project_and_the_other_searches_it(self, chat: FileChat) -> None:
        """In a session without an agent."""
        bread = await chat.project(("bread.txt", "Spring tides of bread."))
        await open_with(chat, await self.project(chat))
        searched = await self.search(chat, query="spring tides")
        inlined, first = chat.request(model="alpha"), chat.request(-2, model="compact")
        assert (letters(inlined), tools_of(inlined)) == ("S P U1", [])
        assert {one["title"] for one in documents(message_of(inlined, "P"))} == {"levels.txt", "sea.txt"}
        assert letters(first) == "S U1"
        assert "## search_project" in text_of(first.messages[0])
        assert letters(searched) == "S U1 TC TR R"
        found = documents(message_of(searched, "TR"))
        assert list(found[0]) == ["document", "title", "metadata", "contents"]
        assert "Spring tides follow the new moon." in found[0]["contents"]
        assert {one["title"] for one in found} <= {"levels.txt", "sea.txt"}, f"not of the project {bread}"
        assert "square brackets" in text_of(searched.messages[-1])
        assert all(one["status"] == "completed" for one in await chat.branch() if one["role"] == "assistant")

    async def test_searches_number_on_from_the_files_of_the_branch(self, chat: FileChat) -> None:
        await open_with(chat, await self.project(chat))
        await chat.turn(await chat.upload("sent-1.txt", "It was high."), models=["compact"])
        searched = await self.search(chat, ["compact"], query="spring tides")
        numbers = [number for number, _ in all_documents(searched.messages)]
        assert numbers[0] == 1
        assert numbers == list(range(1, len(numbers) + 1))
        assert len(numbers) > 1
        await chat.turn(await chat.upload("sent-3.txt", "It was low."), models=["compact"])
        assert letters(chat.request()).endswith("F3 U3")
        [new] = documents(message_of(chat.request(), "F3"))
        assert new["document"] > numbers[-1], "after the highest number used on the branch"

    @pytest.mark.full
    async def test_what_was_found_is_gone_in_later_turns(self, chat: FileChat) -> None:
        await open_with(chat, await self.project(chat))
        await self.search(chat, ["compact"], query="spring tides")
        await chat.turn(models=["compact"])
        request = chat.request(model="compact")
        assert letters(request) == "S U1 TC TR A1 U2"
        assert "no longer available" in text_of(message_of(request, "TR"))
        assert tools_of(request) == ["read_file", "search_project"]

    @pytest.mark.full
    async def test_a_model_without_tools_is_told_that_it_is_shown_nothing(self, chat: FileChat) -> None:
        await open_with(chat, await self.project(chat))
        await chat.turn(models=["toolless"])
        [_, told, question] = map(text_of, chat.request().messages)
        assert told.startswith("The files of this chat's project are not shown to you")
        assert question.startswith("Question 1")
        assert tools_of(chat.request()) == []
