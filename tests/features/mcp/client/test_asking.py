"""Servers that ask the user of a call: no call stays open, it is made again with the answer. Over stdio, in both protocols."""

import asyncio
from pathlib import Path

import pytest

from chat.transcript.questions import AddressQuestion, Answered, Question
from features.mcp.client.configuration import Answer, Asked, CallFailed, Configuration
from tests.features.mcp.client.client import stdio
from tests.preloaded import Preloaded

pytestmark = [pytest.mark.e2e]

FORM = {"type": "object", "properties": {"time": {"type": "string", "title": "When?"}}, "required": ["time"]}


@pytest.fixture(params=["newer", "older"])
def server(request: pytest.FixtureRequest, journal: Path, preloaded_server: Preloaded) -> Configuration:
    if request.param == "older":
        return stdio("-m", "tests.older_mcp_server")
    return stdio()._replace(command=tuple(preloaded_server.command("tests.mcp_server", "stdio")))


def when(place: str) -> Question:
    return Question(f"When at {place}?", FORM)


async def test_a_call_that_asks_has_done_nothing_and_is_made_again_with_the_answer(client, server, journal):
    with pytest.raises(Asked) as asked:
        await client.call(server, "book", place="Sole")
    assert (asked.value.question, journal.read_text()) == (when("Sole"), "")
    client.answers = (Answered(when("Sole"), {"time": "noon"}),)
    assert (await client.call(server, "book", place="Sole")).text == "booked"
    assert journal.read_text() == "Sole at noon\n"


async def test_who_declines_is_declined_and_a_question_that_nobody_can_answer_is_dismissed(
    client, server, journal
):
    client.answers = (Answered(when("Sole"), None),)
    assert (await client.call(server, "book", place="Sole")).text == "not booked: decline"
    client.answers = None
    assert (await client.call(server, "book", place="Sole")).text == "not booked: cancel"
    assert journal.read_text() == ""


async def test_an_answer_is_given_to_its_own_question_and_once(client, server, journal):
    client.answers = (Answered(when("Mare"), {"time": "noon"}),)
    with pytest.raises(Asked, match="When at Sole"):
        await client.call(server, "book", place="Sole")
    assert (await client.call(server, "book", place="Mare")).text == "booked"


async def test_a_server_that_asks_again_and_again_is_told_so_in_the_end(client, server, journal):
    client.answers = tuple(Answered(when(str(number)), {"time": "noon"}) for number in range(8))
    assert (await client.call(server, "book", place="Sole")).text == "not booked: cancel"


async def test_calls_side_by_side_are_not_taken_for_each_other(client, server, journal):
    """The older protocol does not say whose question it is: of two calls, none is asked, or the one that it is."""

    async def book(place: str) -> object:
        try:
            return await client.call(server, "book", place=place)
        except Asked as asked:
            return asked.question

    outcomes = await asyncio.gather(book("Sole"), book("Mare"))
    for place, outcome in zip(("Sole", "Mare"), outcomes, strict=True):
        assert outcome in (when(place), Answer("not booked: cancel"))
    assert journal.read_text() == ""


def paying(place: str) -> AddressQuestion:
    return AddressQuestion(f"Pay for {place}.", f"https://pay.example.com/{place}")


async def test_a_call_that_sends_its_user_to_an_address_is_made_again_when_they_are_done(
    client, server, journal
):
    with pytest.raises(Asked) as asked:
        await client.call(server, "pay", place="Sole")
    assert asked.value.question == paying("Sole")
    journal.write_text("paid Sole\n")
    client.answers = (Answered(paying("Sole"), {}),)
    assert (await client.call(server, "pay", place="Sole")).text == "paid: accept"


async def test_who_does_not_go_there_is_not_sent_again(client, server, journal):
    client.answers = (Answered(paying("Sole"), None),)
    try:
        outcome = (await client.call(server, "pay", place="Sole")).text
    except CallFailed as failed:  # the older protocol has no word for it
        outcome = str(failed)
    assert outcome in (
        "paid: decline",
        "The user has declined to visit the address that the server requires.",
    )


async def test_who_says_to_have_been_there_and_has_not_is_sent_again_but_not_for_ever(client, journal):
    older = stdio("-m", "tests.older_mcp_server")
    client.answers = (Answered(paying("Sole"), {}),)
    with pytest.raises(Asked):
        await client.call(older, "pay", place="Sole")
    client.answers *= 8
    with pytest.raises(CallFailed, match="Pay first"):
        await client.call(older, "pay", place="Sole")


async def test_nobody_is_sent_where_no_browser_may_be_sent(client, server, journal):
    client.answers = ()
    try:
        outcome = (await client.call(server, "pay", place="a b")).text
    except CallFailed as failed:
        outcome = str(failed)
    assert outcome in ("paid: cancel", "Pay first.")
