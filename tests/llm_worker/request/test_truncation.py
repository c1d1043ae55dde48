"""Oversize tool responses keep their head and tail, with a note of how much is missing."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.transcript.entries import Call, Entry, Round
from chat.transcript.tokens import count_tokens
from llm_worker.request.context import REMINDER_TOKENS, Budget, ContextTooLong, build_context
from llm_worker.request.model_message import Message
from llm_worker.request.prompt_parts import PromptParts
from llm_worker.request.truncation import LATER_TOKENS, SHORTEST_TOKENS, token_limits, truncate
from tests.llm_worker.notation import SENT_AT

pytestmark = pytest.mark.pure

NOTE = re.compile(r"\n\n\[… (\d+) tokens left out here …\]\n\n")


def words(text: str, _stored: int = 0) -> int:
    return len(text.split())


def test_a_text_that_fits_is_unchanged():
    assert truncate("a b c", 3, words) == ("a b c", 3)


def test_head_and_tail_are_kept_and_the_omitted_tokens_are_counted():
    text = " ".join(f"{n:04}" for n in range(1000))
    short, tokens = truncate(text, 100, words)
    head, left_out, tail = NOTE.split(short)
    assert head.startswith("0000 0001")
    assert tail.endswith("0998 0999")
    assert len(head) > len(tail) > 50
    assert int(left_out) == 1000 - words(head) - words(tail)
    assert words(short) <= tokens <= 100


@given(
    st.lists(st.text(max_size=20), max_size=20).map(lambda parts: "".join(parts) * 20),
    st.integers(SHORTEST_TOKENS, 300),
)
def test_a_truncated_text_stays_within_its_limit(text, limit):
    short, tokens = truncate(text, limit, lambda given, _stored: count_tokens(given))
    assert count_tokens(short) <= tokens <= limit
    assert truncate(text, limit, lambda given, _stored: count_tokens(given)) == (short, tokens)


def test_token_dense_ends_are_truncated_further():
    text = "x " * 200 + "y" * 4000 + " z" * 200
    short, tokens = truncate(text, SHORTEST_TOKENS, words)
    assert words(short) <= tokens <= SHORTEST_TOKENS


@pytest.mark.parametrize(
    ("sizes", "room", "granted"),
    [
        pytest.param([100], 1000, [100], id="whole"),
        pytest.param([900], 1000, [500], id="half is left for later rounds"),
        pytest.param([90_000], 100_000, [100_000 - LATER_TOKENS], id="or as much as later rounds can use"),
        pytest.param([900, 100], 1000, [400, 100], id="the small one whole"),
        pytest.param([900, 100, 900], 1000, [200, 100, 200], id="the others evenly"),
        pytest.param(
            [900, 10, 900], 20, [SHORTEST_TOKENS, 10, SHORTEST_TOKENS], id="never less than says something"
        ),
        pytest.param([900], -500, [SHORTEST_TOKENS], id="even where nothing is left"),
        pytest.param([], 100, [], id="no calls"),
    ],
)
def test_responses_share_the_room(sizes, room, granted):
    assert token_limits(sizes, room) == granted


def cycles(sizes: list[int], budget: int, history: int = 0) -> list[list[Message]]:
    """The messages of each request of a turn whose tools say this much."""
    entries = [Entry(f"h{n}", "user", "old " * 10, SENT_AT) for n in range(history)] + [
        Entry("q", "user", "q", SENT_AT)
    ]
    rounds = [Round((Call(f"c{n}", "t", {}, f"r{n} " * size),)) for n, size in enumerate(sizes)]
    return [
        list(
            build_context(
                entries, PromptParts(), rounds=rounds[:cycle], budget=Budget(budget, 500), tokens_of=words
            ).messages
        )
        for cycle in range(len(rounds) + 1)
    ]


def test_an_oversize_response_is_truncated_identically_in_every_later_cycle():
    requests = cycles([5000, 40, 5000, 5000], 2000, history=30)
    for before, after in pairwise(requests):
        assert after[: len(before)] == before
    last = [message for message in requests[-1] if message.letter == "TR"]
    assert [bool(NOTE.search(message.text)) for message in last] == [True, False, True, True]
    assert all(
        message.text.startswith(f"r{n} ") and message.text.endswith(f"r{n} ")
        for n, message in enumerate(last)
    )


def test_no_number_of_oversize_responses_ends_a_turn():
    assert len(cycles([5000] * 5, 1000)[-1]) == 11
    with pytest.raises(ContextTooLong):
        cycles([5000] * 30, 1000)


def test_the_calls_with_truncated_responses_are_reported():
    rounds = [Round((Call("a", "t", {}, "x " * 5000), Call("b", "t", {}, "short")))]
    entries = [Entry("q", "user", "q", SENT_AT)]
    context = build_context(entries, PromptParts(), rounds=rounds, budget=Budget(2000), tokens_of=words)
    assert context.truncated == ("a",)


def test_truncation_leaves_room_for_the_reminder():
    reminder = "remember " * REMINDER_TOKENS
    rounds = [Round((Call("a", "t", {}, "x " * 50_000),))]
    entries = [Entry("q", "user", "q", SENT_AT)]
    context = build_context(
        entries, PromptParts(reminder=reminder), rounds=rounds, budget=Budget(1000), tokens_of=words
    )
    assert [message.letter for message in context.messages] == ["U", "TC", "TR", "R"]
