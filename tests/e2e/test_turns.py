"""A message becomes a streamed, stored, stoppable answer, seen by a client that knows only the contract."""

import asyncio
from typing import Any

import pytest

from tests.e2e.client import Client, RunView
from tests.stack import Stack

pytestmark = pytest.mark.e2e


def contents(request: Any) -> list[tuple[str, str]]:
    """(role, text) of what the model saw, the system prompt and the date suffix left out."""
    messages = [message for message in request.messages if message["role"] != "system"]
    return [(message["role"], message["content"].split("\n\n<sent_at>")[0]) for message in messages]


async def test_an_answer_is_streamed_stored_and_counted(stack: Stack) -> None:
    stack.upstream.reply(
        {"reasoning": "Two bulges."}, {"text": "The Moon "}, {"text": "pulls both sides. 🌊"},
        {"usage": {"prompt_tokens": 40, "completion_tokens": 12, "total_tokens": 52}},
    )  # fmt: skip
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session(title="Tides")
        await socket.subscribe(session["id"])
        turn = await alice.ask(session, "Why two tides a day?")
        run = turn["runs"][0]
        view = await socket.ended(run["id"])
        await socket.until(lambda: turn["turn"] in socket.stopped_turns, "overall_stop")

        assert (view.text, view.reasoning) == ("The Moon pulls both sides. 🌊", "Two bulges.")
        assert view.stop_reason == "finished"
        assert view.kinds[0] == "run_start"
        assert view.kinds[-1] == "stop"
        assert socket.stopped_turns[turn["turn"]] == "finished"
        assert [frame["type"] for frame in socket.of_type("turn_started")] == ["turn_started"]

        question, answer = await alice.branch(session)
        assert (question["role"], question["text"]) == ("user", "Why two tides a day?")
        assert (answer["id"], answer["text"], answer["reasoning"]) == (
            run["message"],
            view.text,
            view.reasoning,
        )
        assert answer["status"] == "completed"
        assert "cursor" not in answer or answer["cursor"] is None
        stored = await alice.call("GET", f"runs/{run['id']}/")
        assert stored["usage"]["prompt_tokens"] == 40
        assert stored["usage"]["completion_tokens"] == 12
        assert stored["time_to_first_token_ms"] >= 0

        packets = await alice.call("GET", f"runs/{run['id']}/packets/")
        assert packets["complete"] is True
        assert [packet["seq"] for packet in packets["packets"]] == list(range(1, view.seq + 1))


async def test_the_first_message_is_edited_and_both_branches_stay(stack: Stack) -> None:
    stack.upstream.reply_by(lambda body: [{"text": f"answer {len(body['messages'])}"}])
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])

        async def asked(text: str, **more: Any) -> dict[str, Any]:
            turn = await alice.ask(session, text, **more)
            await socket.ended(turn["runs"][0]["id"])
            await socket.until(lambda: turn["turn"] in socket.stopped_turns, "overall_stop")
            return turn

        first = await asked("First question")
        await asked("Second question")
        edited = await asked("First question, edited", parent=None)

        assert [m["text"] for m in await alice.branch(session)] == ["First question, edited", "answer 2"]
        await alice.call("POST", f"messages/{first['user_message']}/selection/", json={})
        texts = [m["text"] for m in await alice.branch(session)]
        assert texts == ["First question", "answer 2", "Second question", "answer 4"]
        (question, *_rest) = await alice.branch(session)
        assert question["siblings"] == [first["user_message"], edited["user_message"]]

        await asked("Third question")
        seen = [contents(request) for request in stack.upstream.requests]
        assert seen[0] == [("user", "First question")]
        assert seen[1] == [("user", "First question"), ("assistant", "answer 2"), ("user", "Second question")]
        assert seen[2] == [("user", "First question, edited")]
        assert seen[3][-3:] == [
            ("user", "Second question"),
            ("assistant", "answer 4"),
            ("user", "Third question"),
        ]
        assert seen[3][:2] == seen[1][:2]


async def test_a_regenerated_answer_becomes_a_sibling(stack: Stack) -> None:
    stack.upstream.reply({"text": "one"}, times=1)
    stack.upstream.reply({"text": "two"}, times=1)
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        first = await alice.ask(session, "Tell me")
        await socket.until(lambda: first["turn"] in socket.stopped_turns, "the first answer")
        second = await alice.call(
            "POST", f"messages/{first['user_message']}/regenerations/", json={}, status=202
        )
        await socket.until(lambda: second["turn"] in socket.stopped_turns, "the second answer")

        question, answer = await alice.branch(session)
        assert (question["text"], answer["text"]) == ("Tell me", "two")
        assert answer["siblings"] == [first["runs"][0]["message"], second["runs"][0]["message"]]
        assert contents(stack.upstream.requests[0]) == contents(stack.upstream.requests[1])


async def test_of_two_models_one_fails_and_the_other_finishes(stack: Stack) -> None:
    stack.upstream.reply({"text": "half an "}, {"eof": True}, model="alpha")
    stack.upstream.reply({"wait": "beta"}, {"text": "a whole answer"}, model="beta")
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        turn = await alice.ask(session, "Compare", models=["alpha", "beta"])
        failing, finishing = turn["runs"]
        assert [run["model"] for run in turn["runs"]] == ["alpha", "beta"]
        failed = await socket.ended(failing["id"])
        assert (failed.text, failed.stop_reason) == ("half an ", "error")
        assert failed.error is not None
        assert failed.error["code"] == "upstream_interrupted"
        assert turn["turn"] not in socket.stopped_turns

        stack.upstream.release("beta")
        finished = await socket.ended(finishing["id"])
        assert (finished.text, finished.stop_reason) == ("a whole answer", "finished")
        await socket.until(lambda: turn["turn"] in socket.stopped_turns, "overall_stop")
        assert socket.stopped_turns[turn["turn"]] == "finished"

        _, current = await alice.branch(session)
        assert current["status"] == "failed"
        assert current["text"] == "half an "
        assert current["error"] == {k: failed.error[k] for k in ("code", "message", "retryable")}
        await alice.call("POST", f"messages/{finishing['message']}/selection/", json={})
        _, chosen = await alice.branch(session)
        assert chosen["text"] == "a whole answer"


@pytest.mark.parametrize(
    ("script", "shown"),
    [
        pytest.param([{"hang": True}], "", id="before the first token of a silent upstream"),
        pytest.param([{"text": "Once "}, {"hang": True}], "Once ", id="in a silence after the first token"),
        pytest.param([{"words": 100_000, "every_s": 0.005}], "30 ", id="while a token comes every 5 ms"),
    ],
)
async def test_a_stop_closes_the_upstream_and_keeps_what_was_shown(
    stack: Stack, script: list[dict[str, Any]], shown: str
) -> None:
    stack.upstream.reply(*script)
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        turn = await alice.ask(session, "Go on for ever")
        run = turn["runs"][0]
        await asyncio.to_thread(stack.upstream.wait_for_requests)
        if shown:
            await socket.showing(run["id"], shown)
        for _ in range(3):
            await socket.send(type="stop", run=run["id"])
        view = await socket.ended(run["id"])
        await socket.until(lambda: turn["turn"] in socket.stopped_turns, "overall_stop")
        upstream = stack.upstream.requests[0]
        await asyncio.to_thread(stack.upstream.wait_for, lambda: upstream.ended)

        assert upstream.ended == "disconnected"
        assert view.stop_reason == "user_cancelled"
        assert socket.stopped_turns[turn["turn"]] == "user_cancelled"
        assert view.kinds.count("stop") == 1
        _, answer = await alice.branch(session)
        assert (answer["status"], answer["text"]) == ("stopped", view.text)
        again = await alice.call("POST", f"runs/{run['id']}/cancellation/", json={})
        assert again == {"status": "stopped"}


async def test_a_reload_in_mid_answer_joins_without_a_gap(stack: Stack) -> None:
    stack.upstream.reply({"words": 300, "every_s": 0.003}, {"wait": "rest"}, {"text": "the end"})
    async with Client.login(stack.base_url, "alice", "alice") as alice:
        session = await alice.new_session()
        async with alice.socket() as first:
            await first.subscribe(session["id"])
            turn = await alice.ask(session, "Count")
            run = turn["runs"][0]
            await first.showing(run["id"], "20 ")
        _, live = await alice.branch(session)
        assert live["status"] == "running"
        async with alice.socket() as second:
            cursor = live["cursor"]
            second.runs[run["id"]] = RunView(cursor["attempt"], cursor["seq"], live["text"])
            await second.subscribe(session["id"], cursors={run["id"]: cursor})
            stack.upstream.release("rest")
            view = await second.ended(run["id"])
        expected = "".join(f"{number} " for number in range(300)) + "the end"
        assert view.text == expected
        _, answer = await alice.branch(session)
        assert answer["text"] == expected


async def test_every_tab_sees_the_same_answer(stack: Stack) -> None:
    stack.upstream.reply({"words": 50, "every_s": 0.002})
    async with Client.login(stack.base_url, "alice", "alice") as alice:
        session = await alice.new_session()
        async with alice.socket() as one, alice.socket() as two:
            await one.subscribe(session["id"])
            await two.subscribe(session["id"])
            reply = await one.ask("accepted", type="send", session=session["id"], text="Count")
            views = [await tab.ended(reply["runs"][0]["id"]) for tab in (one, two)]
            assert views[0].text == views[1].text
            assert [frame["turn"] for frame in two.of_type("turn_started")] == [reply["turn"]]


async def test_options_that_are_sent_by_the_socket_reach_the_model_over_those_of_the_session(
    stack: Stack,
) -> None:
    stack.upstream.reply({"text": "Because."})
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session(options={"seed": 7, "top_p": 0.5})
        await socket.subscribe(session["id"])
        sent = {"type": "send", "session": session["id"], "text": "Why?"}
        options = {"temperature": 0.25, "top_p": None, "max_output_tokens": 100}
        reply = await socket.ask("accepted", options=options, **sent)
        await socket.ended(reply["runs"][0]["id"])
        body = stack.upstream.requests[-1].body
        assert (body["temperature"], body["max_tokens"], body["seed"]) == (0.25, 100, 7)
        assert "top_p" not in body
        stored = await alice.call("GET", f"runs/{reply['runs'][0]['id']}/")
        assert stored["options"] == {"temperature": 0.25, "max_output_tokens": 100, "seed": 7}

        await socket.send(id="refused", options={"temperature": 3}, **sent)
        refusal = await socket.until(lambda: socket.of_type("error"), "the refusal")
        assert (refusal[0]["code"], refusal[0]["field"]) == ("invalid_value", "options.temperature")


async def test_a_stranger_sees_nothing(stack: Stack) -> None:
    stack.upstream.reply({"text": "secret"})
    async with Client.login(stack.base_url, "alice", "alice") as alice:
        session = await alice.new_session()
        turn = await alice.ask(session, "Tell me")
        async with Client.login(stack.base_url, "bob", "bob") as bob, bob.socket() as socket:
            await socket.send(type="subscribe", session=session["id"], id="1")
            await socket.send(type="stop", run=turn["runs"][0]["id"], id="2")
            replies = await socket.until(lambda: len(socket.frames) == 2 and socket.frames, "two replies")
            assert [frame["type"] for _, frame in replies] == ["error", "error"]
            assert [frame["code"] for _, frame in replies] == ["session_not_found", "run_not_found"]
