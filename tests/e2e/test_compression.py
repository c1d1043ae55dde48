"""Histories that do not fit: real processes compress them beside the conversation, and nobody waits for it."""

import asyncio
import re
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

import psycopg
import pytest

from chat.transcript.tokens import count_tokens
from tests.e2e.client import Client, Frame, Socket
from tests.stack import Stack
from tests.upstream_steps import Rule

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

MODELS = """
from chat.models import ModelConfig
for name, window in {"narrow": 8000, "small": 3000}.items():
    ModelConfig.objects.get_or_create(name=name, defaults=ModelConfig.fields_for(name, window))
"""
SUMMARY = "They counted turn by turn, from 1 over 2, 3, 4 and 5 to the last number that was wanted, and left out none."
FILLER = " word" * 60
NAMED = re.compile(r"Question \d+\b")
SAID = re.compile(r"(Question|Answer) (\d+)\b")


@pytest.fixture(scope="module")
def compressing(running_stack: Stack) -> Iterator[Stack]:
    """With the process that writes summaries, and models with small windows."""
    running_stack.manage("shell", "-v", "0", "-c", MODELS)
    running_stack.start("compression")
    yield running_stack
    process = running_stack.processes.pop("compression")
    process.terminate()
    process.wait(30)


@dataclass
class Talk:
    """One session of alice's, whose turns are numbered; answers repeat the number."""

    stack: Stack
    client: Client
    socket: Socket
    session: Frame
    model: str = "narrow"
    number: int = 0
    started_s: list[float] = field(default_factory=list)
    database: Any = None

    async def turn(self, filler: str = FILLER, **body: Any) -> Frame:
        """Returns when it has ended, with what the model was shown."""
        self.number += 1
        asked_at = time.time()
        text = f"Question {self.number}{filler}"
        turn = await self.client.ask(self.session, text, **{"models": [self.model]} | body)
        await self.socket.until(lambda: turn["turn"] in self.socket.stopped_turns, "overall_stop")
        self.started_s.append(self.stack.upstream.requests[-1].received_at - asked_at)
        return turn

    def shown(self, number: int = -1) -> list[dict[str, Any]]:
        """The messages of one request."""
        return self.stack.upstream.requests[number].messages

    def said(self, number: int = -1) -> list[str]:
        """`SUM`, `Q1`, `A1`, …"""
        found = []
        for message in self.shown(number)[1:]:
            match = SAID.match(message["content"])
            found.append(f"{match[1][0]}{match[2]}" if match else "SUM")
        return found

    async def quiet(self) -> None:
        """Until no compression of this session is under way."""
        query = (
            "SELECT count(*) FROM chat_compression WHERE session_id = %s AND status IN ('queued', 'running')"
        )
        limit = time.monotonic() + 60
        while (await (await self.database.execute(query, [self.session["id"]])).fetchone())[0]:
            assert time.monotonic() < limit, self.stack.log("compression")
            await asyncio.sleep(0.02)

    async def rows(self, columns: str = "status") -> list[Any]:
        query = f"SELECT {columns} FROM chat_compression WHERE session_id = %s ORDER BY created_at"
        return await (await self.database.execute(query, [self.session["id"]])).fetchall()

    async def compressed(self) -> Frame:
        """Turns until the first summary is done; returns the event that told of it."""
        while ("done",) not in await self.rows():
            await self.turn()
            await self.quiet()
            assert self.number < 100
        await self.socket.until(lambda: bool(self.events("done")), "the end of the compression")
        return self.events("done")[0]

    def events(self, status: str) -> list[Frame]:
        return [frame for frame in self.socket.of_type("compression") if frame["status"] == status]


def answers(body: dict[str, Any]) -> list[dict[str, Any]]:
    asked = [SAID.match(message["content"]) for message in body["messages"] if message["role"] == "user"]
    number = [match[2] for match in asked if match][-1]
    return [{"text": f"Answer {number}{FILLER}"}]


@pytest.fixture
async def talk(compressing: Stack, stack: Stack) -> AsyncIterator[Talk]:
    stack.upstream.reply_by(answers)
    stack.upstream.reply({"text": SUMMARY}, stream=False)
    url = stack.environment["DATABASE_URL"]
    async with (
        Client.login(stack.base_url, "alice", "alice") as alice,
        alice.socket() as socket,
        await psycopg.AsyncConnection.connect(url, autocommit=True) as database,
    ):
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        yield Talk(stack, alice, socket, session, database=database)


async def test_a_summary_is_written_in_the_background_and_used_by_the_next_turn(talk: Talk) -> None:
    done = await talk.compressed()
    assert done["tokens_after"] < done["tokens_before"]
    # A title may still be asked for, of a chat of another test.
    [aside] = [one for one in talk.stack.upstream.asides if one.body["model"] == "narrow"]
    assert "Question 1" in str(aside.messages)
    last = talk.number
    before = (await talk.rows("history_window, tokens_before, status"))[-1]
    assert before[1] > before[0] * 0.75, "the trigger was crossed, and only then"
    assert before[2] == "done"
    await talk.turn()
    said = talk.said()
    assert said[0] == "SUM"
    assert SUMMARY in talk.shown()[1]["content"]
    first = int(said[1][1:])
    assert said[1:] == [f"{letter}{n}" for n in range(first, last + 2) for letter in "QA"][:-1]
    branch = await talk.client.branch(talk.session)
    assert [m["role"] for m in branch] == ["user", "assistant"] * talk.number, "no summary among the replies"


@pytest.mark.full
async def test_branches_that_fork_before_and_after_and_siblings_at_the_summarys_parent(talk: Talk) -> None:
    await talk.compressed()
    branch = await talk.client.branch(talk.session)
    parent = branch[-2]  # the last question when it was asked for
    # A sibling answer of the parent shares the summary.
    await talk.client.call(
        "POST", f"messages/{parent['id']}/regenerations/", json={"models": ["narrow"]}, status=202
    )
    await talk.socket.until(lambda: len(talk.socket.stopped_turns) == talk.number + 1, "the other answer")
    assert talk.said()[0] == "SUM"
    # A question below the parent's answer has it, one beside the parent has not.
    await talk.turn(parent=branch[-1]["id"])
    assert talk.said()[0] == "SUM"
    await talk.quiet()
    await talk.turn(parent=branch[-3]["id"])
    assert "SUM" not in talk.said()
    await talk.quiet()
    # Nor has one that leaves the branch before its cutoff.
    await talk.turn(parent=branch[1]["id"])
    assert talk.said() == ["Q1", "A1", f"Q{talk.number}"]


async def test_a_summary_that_fails_leaves_the_conversation_as_it_is(talk: Talk) -> None:
    talk.stack.upstream.rules.insert(0, Rule([{"status": 401}], stream=False))
    while not talk.events("failed"):
        await talk.turn()
        await talk.quiet()
    await talk.turn()
    await talk.quiet()
    assert "SUM" not in talk.said()
    ended = [row[0] for row in await talk.rows() if row[0] != "nothing"]
    assert ended == ["failed"], "not tried again before its time"


async def test_a_turn_does_not_wait_for_the_summary_of_the_one_before(talk: Talk) -> None:
    talk.stack.upstream.rules.insert(0, Rule([{"wait": "the next turn"}, {"text": SUMMARY}], stream=False))
    while not talk.events("started"):
        await talk.turn()
        await asyncio.sleep(0.05)
    await talk.turn()
    assert "SUM" not in talk.said()
    talk.stack.upstream.release("the next turn")
    await talk.quiet()
    await talk.turn()
    assert talk.said()[0] == "SUM"


async def test_a_smaller_model_goes_on_with_a_long_conversation(talk: Talk) -> None:
    for _ in range(20):
        await talk.turn()
    await talk.quiet()
    assert await talk.rows() == []
    await talk.turn(models=["small"])
    assert len(talk.said()) < 2 * talk.number - 1, "cut to what the small window holds"
    await talk.quiet()
    await talk.turn(models=["small"])
    assert talk.said()[0] == "SUM"


def keep_what_is_shown(body: dict[str, Any]) -> list[dict[str, Any]]:
    """A summary that names every question that its writer is shown before the marker or in the previous summary."""
    texts = [message["content"] for message in body["messages"]]
    marker = next(number for number, text in enumerate(texts) if text.startswith("[Marker"))
    named = ", ".join(dict.fromkeys(NAMED.findall("\n".join(texts[:marker]))))
    return [{"text": f"They went through these, one after the other, and left none of them out: {named}"}]


async def test_with_tools_every_question_is_shown_or_summarised_from_the_first_turn_on(talk: Talk) -> None:
    talk.stack.upstream.rules.insert(0, Rule(keep_what_is_shown, stream=False))
    tools = ["web_search", "current_time", "research_agent"]
    given = {"name": "Three", "prompt": "You know the sea.", "tools": tools}
    agent = await talk.client.call("POST", "agents/", json=given, status=201)
    talk.session = await talk.client.new_session(agent=agent["id"])
    await talk.socket.subscribe(talk.session["id"])
    for number in range(1, 31):
        await talk.turn(filler=" word" * 350)
        await talk.quiet()
        assert len(talk.stack.upstream.requests[-1].body["tools"]) == len(tools)
        shown = NAMED.findall("\n".join(message["content"] for message in talk.shown()))
        assert set(shown) == {f"Question {n}" for n in range(1, number + 1)}, f"turn {number}"
    statuses = [row[0] for row in await talk.rows()]
    assert statuses.count("done") >= 2
    assert statuses.count("nothing") <= statuses.count("done"), "few are requested in vain"


@pytest.mark.full
async def test_a_large_model_beside_a_small_one_is_sent_every_question_word_for_word(talk: Talk) -> None:
    models = ["alpha", "small"]
    before: list[dict[str, Any]] = []
    summarised = 0
    for number in range(1, 16):
        await talk.turn(models=models)
        await talk.quiet()
        sent = {one.body["model"]: one.messages for one in talk.stack.upstream.requests[-len(models) :]}
        questions = [match[2] for match in map(SAID.match, contents(sent["alpha"], "user")) if match]
        assert questions == [str(n) for n in range(1, number + 1)], "at a fraction of its window"
        assert sent["alpha"][: len(before)] == before, "each request extends the one before"
        before = sent["alpha"]
        summarised += any(SUMMARY in text for text in contents(sent["small"], "user"))
    assert summarised >= 3, "the small one needs its summaries"
    asked = {row[0] for row in await talk.rows("model")}
    assert asked == {"small"}, "for the large one none is due"


def contents(messages: list[dict[str, Any]], role: str) -> list[str]:
    return [message["content"] for message in messages if message["role"] == role]


@pytest.mark.full
async def test_two_hundred_turns_in_a_window_of_eight_thousand(talk: Talk) -> None:
    requests = []
    for _ in range(200):
        await talk.turn()
        requests.append((talk.said(), sum(count_tokens(m["content"]) + 4 for m in talk.shown())))
        await talk.quiet()
    rows = await talk.rows("status, tokens_before, tokens_after, history_window")
    done = [row for row in rows if row[0] == "done"]
    assert all(tokens <= 8000 - 2000 for _, tokens in requests), "every request leaves room for its answer"
    for number, (said, _) in enumerate(requests, start=1):
        first = 1 if said[0] != "SUM" else int(said[1][1:])
        expected = [f"{letter}{n}" for n in range(first, number + 1) for letter in "QA"][:-1]
        assert [one for one in said if one != "SUM"] == expected, "from the cutoff on, nothing is cut away"
    # From one to the next, a history grows from what the last one left to the trigger.
    window = done[0][3]
    grown = sum(row[1] for row in done) - sum(row[2] for row in done[:-1])
    assert all(row[1] > 0.75 * window for row in done)
    assert all(row[2] <= 0.2 * row[1] + 100 for row in done)
    assert 2 <= len(done) <= grown / ((0.75 - 0.2) * 0.75 * window) + 1
    early, late = median(talk.started_s[10:60]), median(talk.started_s[-50:])
    print(
        f"{len(done)} summaries; a turn starts after {early * 1000:.0f} ms, at the end {late * 1000:.0f} ms"
    )
    assert late <= 3 * early + 0.5
