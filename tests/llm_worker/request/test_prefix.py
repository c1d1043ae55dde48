"""The share of each request that repeats the previous one, so that a prefix cache need not process it again."""

from datetime import timedelta
from itertools import pairwise

import pytest

from chat.transcript.entries import Block, Call, Entry
from chat.transcript.tokens import count_tokens
from llm_worker.records.request_log import common_length, message_digests, prefix_share, share_of_first
from llm_worker.request.context import Budget, build_context
from llm_worker.request.model_message import LanguageModelInput, Message, total_tokens
from llm_worker.request.prompt_parts import PromptParts
from llm_worker.request.token_counters import estimate_tokens
from tests.llm_worker.notation import SENT_AT, built

pytestmark = pytest.mark.pure

TURNS = 20
SYSTEM_TOKENS, DYNAMIC_TOKENS, QUESTION_TOKENS, ANSWER_TOKENS = 1500, 200, 60, 300


def text(tokens: int, name: str) -> str:
    """Exactly this many tokens in the default encoding, unlike any other text."""
    begins = f"{name}:"
    text = begins + " word" * (tokens - count_tokens(begins))
    assert count_tokens(text) == tokens
    return text


def requests(layout: str) -> list[LanguageModelInput]:
    """The requests of a session without tools, one for each turn."""
    dynamic = text(DYNAMIC_TOKENS, "dynamic")
    prompt_parts = PromptParts(
        system=text(SYSTEM_TOKENS, "system"), dynamic_context=dynamic if layout == "moving" else ""
    )
    stored = (Block("D", dynamic),) if layout == "append_only" else ()
    entries: list[Entry] = []
    requests = []
    for turn in range(1, TURNS + 1):
        sent_at = SENT_AT + timedelta(minutes=turn)
        question = text(QUESTION_TOKENS, f"question {turn}")
        blocks = stored if turn == 1 else ()
        entries.append(Entry(f"u{turn}", "user", question, sent_at, QUESTION_TOKENS, blocks=blocks))
        context = build_context(entries, prompt_parts, budget=Budget(100_000), tokens_of=estimate_tokens)
        requests.append(context.messages)
        entries.append(
            Entry(f"a{turn}", "assistant", text(ANSWER_TOKENS, f"answer {turn}"), sent_at, ANSWER_TOKENS)
        )
    return requests


@pytest.mark.parametrize(("layout", "least"), [("moving", 0.88), ("append_only", 0.93)])
def test_most_of_a_long_session_is_a_repeated_prefix(layout, least):
    sent = requests(layout)
    tokens = [total_tokens(request) for request in sent[1:]]
    shares = [prefix_share(before, after) for before, after in pairwise(sent)]
    repeated = sum(part * whole for part, whole in zip(shares, tokens, strict=True)) / sum(tokens)
    assert repeated >= least
    assert shares == sorted(shares), "and ever more of it"


def message(letter: str, tokens: int) -> Message:
    return Message(letter, letter, tokens=tokens)


@pytest.mark.parametrize(
    ("before", "after", "part"),
    [
        pytest.param("S U", "S U", 1.0, id="the same again"),
        pytest.param("S U", "S U A U", 0.5, id="one that extends it"),
        pytest.param("S D U", "S U D", 0.25, id="one that differs from the second on"),
        pytest.param("S U A", "S U", 1.0, id="one that is shorter"),
        pytest.param("U", "S U", 0.0, id="nothing"),
        pytest.param("", "S", 0.0, id="the first request"),
        pytest.param("S", "", 0.0, id="an empty one"),
    ],
)
def test_the_share_is_that_of_the_tokens_in_the_common_prefix(before, after, part):
    tokens = {"S": 10, "U": 10, "A": 10, "D": 20}
    one, other = (
        [message(letter, tokens[letter]) for letter in letters.split()] for letters in (before, after)
    )
    assert prefix_share(one, other) == pytest.approx(part)
    assert share_of_first(
        common_length(message_digests(one), message_digests(other)), other
    ) == pytest.approx(part)


def test_a_turns_requests_extend_each_other_to_the_last_token_but_for_the_reminder():
    first, second = built("S U1 A1 U2").messages, built("S U1 A1 U2 TC TR").messages
    assert common_length(first, second) == len(first)


def test_messages_are_equal_if_their_wire_format_is():
    call, other = Call("1", "t", {"a": 1, "b": 2}), Call("1", "t", {"b": 2, "a": 1})
    messages = [
        Message("TC", "", (call,), tokens=3),
        Message("TC", "", (other,)),
        Message("TC", "x", (call,)),
    ]
    assert messages[0] == messages[1] != messages[2]
    one, two, three = message_digests(messages)
    assert one == two != three
