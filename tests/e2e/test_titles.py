"""A session gets its name by itself, in front of whoever watches it."""

import pytest

from tests.e2e.client import Client
from tests.stack import Stack
from tests.upstream import Received

pytestmark = pytest.mark.e2e


def titles_asked_for(stack: Stack, question: str) -> list[Received]:
    """Requests for titles of chats that begin with it; those of other tests' chats may come late."""
    return [one for one in stack.upstream.asides if question in one.messages[-1]["content"]]


async def test_the_first_answer_names_the_session_before_the_eyes_of_its_tabs(stack: Stack) -> None:
    stack.upstream.reply({"text": "Two Tides a Day"}, stream=False)
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session(title="")
        await socket.subscribe(session["id"])
        turn = await alice.ask(session, "Why two tides a day?")
        await socket.until(lambda: turn["turn"] in socket.stopped_turns, "overall_stop")
        [named] = await socket.until(lambda: socket.of_type("session"), "the title")
        assert named["title"] == "Two Tides a Day"
        assert (await alice.call("GET", f"sessions/{session['id']}/"))["title"] == "Two Tides a Day"

        again = await alice.ask(session, "And three?")
        await socket.until(lambda: again["turn"] in socket.stopped_turns, "overall_stop")
        [asked] = titles_asked_for(stack, "two tides a day?")
        assert asked.body["stream"] is False
        assert "You said: Why two tides a day?" in asked.messages[-1]["content"]


async def test_a_session_that_has_a_name_keeps_it_and_no_model_is_asked(stack: Stack) -> None:
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session(title="Mine")
        await socket.subscribe(session["id"])
        other = await alice.new_session(title="")
        turn = await alice.ask(session, "Why two tides a day?")
        await socket.until(lambda: turn["turn"] in socket.stopped_turns, "overall_stop")

        # Tasks are taken in order: when the other session has its name, this one's would have come.
        stack.upstream.reply({"status": 400}, stream=False)
        await socket.subscribe(other["id"], since=0)
        await alice.ask(other, "Is a session named\nafter its question, without a model?")
        [named] = await socket.until(lambda: socket.of_type("session"), "the title")
        assert (named["session"], named["title"]) == (other["id"], "Is a session named after its question,…")
        assert len(titles_asked_for(stack, "Is a session named\n")) == 1
        assert titles_asked_for(stack, "two tides a day?") == []
        assert (await alice.call("GET", f"sessions/{session['id']}/"))["title"] == "Mine"
