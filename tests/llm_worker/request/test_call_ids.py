"""Ids of calls are sent as the server of the request accepts them, and a call and its response always have the same."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.transcript.dialect import SERVER_CALL_IDS, SHORT_CALL_IDS
from chat.transcript.entries import Call
from llm_worker.request.call_ids import refused_ids, with_accepted_ids
from llm_worker.request.model_message import Message, to_api_messages

pytestmark = pytest.mark.pure

LONG = "call_" + "x" * 140


def conversation(*rounds: list[str], given: dict[str, str] | None = None) -> list[Message]:
    """Rounds of calls with these ids. given: the ids of their server, by those that are stored."""
    members = {"tool_calls": {own: {"id": one} for own, one in (given or {}).items()}} if given else {}
    messages = []
    for ids in rounds:
        messages.append(Message("TC", "", calls=tuple(Call(own, "act", {}) for own in ids), members=members))
        messages += [Message("TR", "Done.", tool_call_id=own) for own in ids]
    return messages


def sent(messages: list[Message], *traits: str) -> list[list[str]]:
    """The ids of each round as they are sent, which those of the responses equal."""
    called: list[list[str]] = []
    answered: list[list[str]] = []
    for wire in to_api_messages(with_accepted_ids(messages, traits)):
        if "tool_calls" in wire:
            called.append([call["id"] for call in wire["tool_calls"]])
            answered.append([])
        else:
            answered[-1].append(wire["tool_call_id"])
    assert called == answered
    return called


ids = st.text(min_size=1, max_size=40) | st.from_regex(r"[a-zA-Z0-9]{9}", fullmatch=True)


@given(st.lists(st.lists(ids, min_size=1, max_size=4, unique=True), max_size=4))
def test_short_ids_have_nine_letters_and_digits_and_are_as_many_as_before(rounds: list[list[str]]) -> None:
    short = sent(conversation(*rounds), SHORT_CALL_IDS)
    own = [one for each in rounds for one in each]
    shown = [one for each in short for one in each]
    assert all(re.fullmatch(r"[a-zA-Z0-9]{9}", one) for one in shown)
    assert len(set(zip(own, shown, strict=True))) == len(set(own)) == len(set(shown))
    assert sent(conversation(*rounds), SHORT_CALL_IDS) == short


def test_ids_that_are_short_already_stay_and_later_requests_repeat_earlier_ones() -> None:
    first = sent(conversation(["call_0", "aB3dE6gH9"]), SHORT_CALL_IDS)
    assert first[0][1] == "aB3dE6gH9"
    assert sent(conversation(["call_0", "aB3dE6gH9"], ["call_1"]), SHORT_CALL_IDS)[:1] == first


def test_the_server_that_gave_an_id_is_sent_it_again_a_long_one_only_if_it_insists() -> None:
    messages = conversation(
        ["call_0", "call_1", "call_2"], given={"call_0": "functions.act:0", "call_1": LONG}
    )
    assert sent(messages) == [["functions.act:0", "call_1", "call_2"]]
    assert sent(messages, SERVER_CALL_IDS) == [["functions.act:0", LONG, "call_2"]]


@given(st.lists(st.lists(ids, min_size=1, max_size=4, unique=True), max_size=4))
def test_ids_that_a_program_tells_are_sent_in_the_alphabet_of_all_servers(rounds: list[list[str]]) -> None:
    called = sent(conversation(*rounds, [LONG, "functions.act:0"]))
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,40}", name) for names in called for name in names)
    assert [len(set(names)) for names in called] == [*map(len, rounds), 2]


def test_members_of_a_call_stay_with_it() -> None:
    [called, response] = conversation(["call_0"], given={"call_0": "functions.act:0"})
    members: Any = {"tool_calls": {"call_0": {"id": "functions.act:0", "extra_content": {"a": 1}}}}
    called = Message("TC", "", calls=called.calls, members=members)
    for traits in ((), (SHORT_CALL_IDS,)):
        [wire, _] = to_api_messages(with_accepted_ids([called, response], traits))
        assert wire["tool_calls"][0]["extra_content"] == {"a": 1}


@pytest.mark.parametrize(
    ("said", "trait"),
    [
        (
            "3280 tool call id was call_0fyps1hvx but must be a-z, a-z, 0-9, with a length of 9.",
            SHORT_CALL_IDS,
        ),
        ("tool call ids should be alphanumeric strings with length 9!", SHORT_CALL_IDS),
        ("function call is missing a thought_signature in functioncall parts.", SERVER_CALL_IDS),
        ("no tool call found for function call output with call_id call_1.", SERVER_CALL_IDS),
        ("the answer must have a length of 9", ""),
    ],
)
def test_refusals_of_ids_are_read(said: str, trait: str) -> None:
    assert refused_ids(said, conversation(["call_1"], given={"call_1": LONG})) == trait
    # A server that is sent what it gave, or no id at all, refuses something else.
    assert refused_ids(said, conversation(["call_1"])) in ("", SHORT_CALL_IDS)
    assert refused_ids(said, [Message("U", "Why?")]) == ""
