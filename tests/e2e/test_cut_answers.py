"""An answer cut at the output limit says so and goes on in the same message; one cut by a filter only says so."""

import pytest

from tests.e2e.client import Client
from tests.stack import Stack

pytestmark = pytest.mark.e2e

CUT = ({"finish": "length"}, {"usage": {"prompt_tokens": 9, "completion_tokens": 4096}})


async def test_a_cut_answer_goes_on_for_all_who_watch_and_for_those_who_come_later(stack: Stack) -> None:
    stack.upstream.reply({"text": "The Moon pu"}, *CUT, times=1)
    stack.upstream.reply({"text": "lls "}, {"wait": "the rest"}, {"text": "twice."}, times=1)
    async with (
        Client.login(stack.base_url, "alice", "alice") as alice,
        alice.socket() as asking,
        alice.socket() as watching,
    ):
        session = await alice.new_session()
        await asking.subscribe(session["id"])
        await watching.subscribe(session["id"])
        turn = await alice.ask(session, "Why two tides?")
        run = turn["runs"][0]["id"]
        for socket in (asking, watching):
            await socket.until(lambda socket=socket: turn["turn"] in socket.stopped_turns, "overall_stop")
        stop = asking.of_type("packet")[-1]["obj"]
        assert (stop["finish_reason"], stop["finish_tokens"]) == ("length", 4096)
        [_, before] = await alice.branch(session)
        assert (before["finish_reason"], before["finish_tokens"]) == ("length", 4096)

        accepted = await asking.ask("accepted", type="continue", run=run)
        assert (accepted["run"], accepted["message"], accepted["turn"]) == (run, before["id"], turn["turn"])
        for socket in (asking, watching):
            await socket.showing(run, "The Moon pulls ")
        async with alice.socket() as late:
            await late.subscribe(session["id"])
            await late.showing(run, "The Moon pulls ")
            [_, during] = await alice.branch(session)
            assert (during["id"], during["text"]) == (before["id"], "The Moon pulls ")
            assert "finish_reason" not in during
            stack.upstream.release("the rest")
            for socket in (asking, watching, late):
                view = await socket.ended(run)
                assert view.text == "The Moon pulls twice."
                await socket.until(lambda socket=socket: turn["turn"] in socket.stopped_turns, "overall_stop")
        [_, after] = await alice.branch(session)
        assert (after["id"], after["text"], after["siblings"]) == (
            before["id"],
            view.text,
            before["siblings"],
        )
        packets = await alice.call("GET", f"runs/{run}/packets/")
        assert packets["complete"] is True


async def test_the_request_to_go_on_is_no_part_of_the_chat(stack: Stack) -> None:
    stack.upstream.reply({"text": "The Moon pu"}, *CUT, times=1)
    stack.upstream.reply({"text": "lls."}, times=1)
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        turn = await alice.ask(session, "Why two tides?")
        run = turn["runs"][0]["id"]
        await socket.until(lambda: turn["turn"] in socket.stopped_turns, "overall_stop")
        await alice.call("POST", f"runs/{run}/continuation/", status=202)
        await socket.showing(run, "The Moon pulls.")
        await socket.until(lambda: turn["turn"] in socket.stopped_turns, "overall_stop")
        first, second = stack.upstream.requests
        added = second.messages[len(first.messages) :]
        assert second.messages[: len(first.messages)] == first.messages
        assert added[0] == {"role": "assistant", "content": "The Moon pu"}
        assert "exactly where it stops" in added[1]["content"]

        reply = await alice.ask(session, "And the Sun?")
        await socket.ended(reply["runs"][0]["id"])
        sent = [message["content"] for message in stack.upstream.requests[-1].messages]
        assert "The Moon pulls." in sent
        assert not any("exactly where it stops" in text for text in sent)


async def test_an_answer_cut_by_a_filter_says_so_and_cannot_go_on(stack: Stack) -> None:
    stack.upstream.reply({"text": "I would"}, {"finish": "content_filter"})
    async with Client.login(stack.base_url, "alice", "alice") as alice, alice.socket() as socket:
        session = await alice.new_session()
        await socket.subscribe(session["id"])
        turn = await alice.ask(session, "How?")
        run = turn["runs"][0]["id"]
        await socket.until(lambda: turn["turn"] in socket.stopped_turns, "overall_stop")
        assert socket.of_type("packet")[-1]["obj"]["finish_reason"] == "content_filter"
        [_, answer] = await alice.branch(session)
        assert answer["finish_reason"] == "content_filter"
        refused = await alice.call("POST", f"runs/{run}/continuation/", status=409)
        assert refused["code"] == "not_continuable"
