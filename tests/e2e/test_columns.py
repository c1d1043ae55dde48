"""Models answer side by side; one is asked again in its column, and the chosen answer is continued."""

import pytest

from tests.e2e.client import Client
from tests.e2e.comparison import contents_of_role
from tests.stack import Stack

pytestmark = pytest.mark.e2e


async def test_a_failed_column_is_retried_while_another_is_written(stack: Stack) -> None:
    stack.upstream.reply({"status": 400}, model="beta", times=1)
    stack.upstream.reply({"text": "alpha "}, {"wait": "alpha"}, {"text": "says so"}, model="alpha", times=1)
    stack.upstream.reply({"text": "gamma says so"}, model="gamma", times=1)
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        turn = await alice.ask(session, "Compare", models=["alpha", "beta", "gamma"])
        alpha, beta, gamma = turn["runs"]
        await socket.ended(beta["id"])
        await socket.ended(gamma["id"])

        stack.upstream.reply({"text": "beta says so, too"}, model="beta", times=1)
        path = f"messages/{turn['user_message']}/regenerations/"
        retried = await alice.call("POST", path, json={"replace": {"run": beta["id"]}}, status=202)
        [again] = retried["runs"]
        assert (again["model"], again["model_index"]) == ("beta", 1)
        view = await socket.ended(again["id"])
        assert view.text == "beta says so, too"
        packets = await alice.call("GET", f"runs/{again['id']}/packets/")
        assert {packet["placement"]["model_index"] for packet in packets["packets"]} == {1}
        stack.upstream.release("alpha")
        await socket.ended(alpha["id"])
        await socket.until(lambda: turn["turn"] in socket.stopped_turns, "overall_stop")

        _, answer = await alice.branch(session)
        shown = {one["column"]: one for one in (answer, *answer["alongside"])}
        assert answer["id"] == alpha["message"]
        assert {at: (one["model"], one["text"], len(one["attempts"])) for at, one in shown.items()} == {
            0: ("alpha", "alpha says so", 1),
            1: ("beta", "beta says so, too", 2),
            2: ("gamma", "gamma says so", 1),
        }


async def test_the_chosen_column_alone_is_history(stack: Stack) -> None:
    for model in ("alpha", "beta", "beta", "gamma"):
        stack.upstream.reply({"text": f"{model} says so"}, model=model, times=1)
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        turn = await alice.ask(session, "Compare", models=["alpha", "beta"])
        for run in turn["runs"]:
            await socket.ended(run["id"])
        path = f"messages/{turn['user_message']}/regenerations/"
        replace = {"replace": {"run": turn["runs"][1]["id"]}}
        [again] = (await alice.call("POST", path, json=replace, status=202))["runs"]
        await socket.ended(again["id"])
        await alice.call("POST", f"messages/{again['message']}/selection/", json={})
        following = await alice.ask(session, "Go on", models=["gamma"])
        await socket.ended(following["runs"][0]["id"])

        assert contents_of_role(stack.upstream.requests[-1], "assistant") == ["beta says so"]
        before, last = (await alice.branch(session))[1::2]
        assert before["id"] == again["message"]
        assert [(one["column"], one["text"]) for one in before["alongside"]] == [(0, "alpha says so")]
        assert last["text"] == "gamma says so"


async def test_one_column_is_stopped_and_asked_again(stack: Stack) -> None:
    stack.upstream.reply({"text": "Once "}, {"hang": True}, model="alpha", times=1)
    stack.upstream.reply({"text": "from beta"}, model="beta", times=1)
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        turn = await alice.ask(session, "Compare", models=["alpha", "beta"])
        alpha, beta = turn["runs"]
        await socket.ended(beta["id"])
        await socket.showing(alpha["id"], "Once ")
        await socket.send(type="stop", run=alpha["id"])
        await socket.ended(alpha["id"])
        stack.upstream.reply({"text": "from alpha"}, model="alpha", times=1)
        path = f"messages/{turn['user_message']}/regenerations/"
        retried = await alice.call("POST", path, json={"replace": {"run": alpha["id"]}}, status=202)
        await socket.ended(retried["runs"][0]["id"])
        _, answer = await alice.branch(session)
        assert [(one["text"], one["status"]) for one in (answer, *answer["alongside"])] == [
            ("from alpha", "completed"), ("from beta", "completed"),
        ]  # fmt: skip
        assert answer["attempts"] == [alpha["message"], retried["runs"][0]["message"]]
