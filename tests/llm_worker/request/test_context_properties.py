"""Properties of every request, for any branch, budget and rounds."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.transcript.entries import Block, Call, Document, Entry, Image, Round, TextFile
from llm_worker.request.context import Budget, Context, ContextTooLong, build_context
from llm_worker.request.model_message import Message, total_tokens
from llm_worker.request.prompt_parts import PromptParts
from tests.examples import examples

pytestmark = pytest.mark.pure

SENT_AT = datetime(2026, 11, 21, 14, 5, tzinfo=UTC)
# Current blocks may come from the branch and from the framing.
ORDER = re.compile(
    r"(S )?(SUM )?((CA|P|D|F|U|A) |TC (TR )+(TI )?)*?(CA )*(P )*(D )*(N )?(F )?U (TC (TR )+(TI )?)*(R )?"
)

words = st.integers(1, 60).map(lambda count: " ".join(["word"] * count))
maybe = st.one_of(st.just(""), words)
long_words = st.one_of(words, st.integers(100, 3000).map(lambda count: " ".join(["long"] * count)))


def tokens_of(text: str, _stored: int = 0) -> int:
    return len(text.split())


@st.composite
def rounds(draw: st.DrawFn, responses: st.SearchStrategy[str], at_most: int) -> tuple[Round, ...]:
    result = []
    for number in range(draw(st.integers(0, at_most))):
        calls = tuple(
            Call(
                f"c{number}.{tab}",
                "tool",
                {"query": draw(words)},
                draw(responses),
                images=(Image("i", "i.png", "data:", 32, 16),) * draw(st.integers(0, 2)),
            )
            for tab in range(draw(st.integers(1, 3)))
        )
        result.append(Round(calls, draw(maybe), "secret thoughts"))
    return tuple(result)


def user(draw: st.DrawFn, number: int) -> Entry:
    documents = draw(st.lists(words, max_size=2))
    files = tuple(
        TextFile(f"{number}.{n}", f"{n}.txt", 9, Document(n, f"{n}", "Title", text))
        for n, text in enumerate(documents)
    )
    kinds = draw(st.lists(st.sampled_from(["CA", "P", "D"]), unique=True, max_size=2))
    images = (Image("i", "i.png", "data:", 32, 16),) * draw(st.integers(0, 1))
    blocks = tuple(Block(kind, draw(maybe)) for kind in kinds)
    return Entry(f"u{number}", "user", draw(maybe), SENT_AT, files=files, images=images, blocks=blocks)


def answer(draw: st.DrawFn, number: int) -> Entry:
    result = draw(rounds(maybe, 2))
    text = "".join(each.text_before for each in result) + draw(maybe)
    return Entry(f"a{number}", "assistant", text, SENT_AT, reasoning="secret thoughts", rounds=result)


@st.composite
def branches(draw: st.DrawFn) -> list[Entry]:
    kinds = draw(st.lists(st.sampled_from([user, answer]), max_size=8))
    return [make(draw, number) for number, make in enumerate([*kinds, user])]


framings = st.builds(
    PromptParts,
    system=maybe, summary=maybe, agent_prompt=maybe, project=maybe, dynamic_context=maybe, reminder=maybe,
    reads_files=st.booleans(), sees_images=st.booleans(),
)  # fmt: skip
budgets = st.builds(Budget, st.integers(50, 3000), st.integers(0, 500))
turns = rounds(long_words, 4)


def attempt(
    entries: list[Entry], prompt_parts: PromptParts, turn: tuple[Round, ...], budget: Budget
) -> Context | None:
    try:
        return build_context(entries, prompt_parts, rounds=turn, budget=budget, tokens_of=tokens_of)
    except ContextTooLong:
        return None


@given(branches(), framings, turns, budgets)
@settings(max_examples=examples(100))
def test_every_request_is_within_budget_and_well_formed(entries, prompt_parts, turn, budget):
    context = attempt(entries, prompt_parts, turn, budget)
    if context is None:
        return
    messages = list(context.messages)
    assert ORDER.fullmatch("".join(f"{message.letter} " for message in messages))
    assert total_tokens(messages) == context.tokens <= budget.tokens
    assert all(tokens_of(message.text) <= message.tokens for message in messages)
    assert paired(messages)
    question = messages[at(messages, "U")]
    assert question.text.startswith(entries[-1].text)
    assert [message.text for message in messages if message.letter == "SUM"] == [prompt_parts.summary] * bool(
        prompt_parts.summary
    )
    assert [message.text for message in messages if message.letter == "R"] == [prompt_parts.reminder] * bool(
        prompt_parts.reminder
    )
    assert "secret thoughts" not in repr(messages)
    assert all(message.text or message.calls or message.tool_call_id for message in messages)


def at(messages: list[Message], letter: str) -> int:
    """Where the last of this letter stands."""
    return max(n for n, message in enumerate(messages) if message.letter == letter)


def paired(messages: list[Message]) -> bool:
    """No response without its call, right behind it, and no call without its response."""
    waiting: list[str] = []
    for message in messages:
        if message.letter == "TR":
            if not waiting or waiting.pop(0) != message.tool_call_id:
                return False
        elif waiting:
            return False
        elif message.letter == "TC":
            waiting = [call.id for call in message.calls]
            if not waiting:
                return False
    return not waiting


@given(branches(), framings, turns, budgets)
@settings(max_examples=examples(100))
def test_each_request_of_a_turn_extends_the_one_before_while_that_fits(entries, prompt_parts, turn, budget):
    requests = [attempt(entries, prompt_parts, turn[:cycle], budget) for cycle in range(len(turn) + 1)]
    for before, after in pairwise(requests):
        if before is None or after is None:
            continue
        fixed = [message for message in before.messages if message.letter != "R"]
        reminder = [message for message in after.messages if message.letter == "R"]
        round_ = list(after.messages[at(list(after.messages), "TC") : len(after.messages) - len(reminder)])
        if total_tokens(fixed) + total_tokens(round_) + total_tokens(reminder) <= budget.tokens:
            assert list(after.messages) == [*fixed, *round_, *reminder]


@given(branches(), framings, turns, st.integers(0, 500))
@settings(max_examples=examples(60))
def test_with_enough_room_nothing_is_omitted_and_only_the_reminder_follows_the_last_round(
    entries, prompt_parts, turn, for_rounds
):
    budget = Budget(200_000, for_rounds)
    bare = build_context(entries, replace(prompt_parts, reminder=""), budget=budget, tokens_of=tokens_of)
    full = build_context(entries, prompt_parts, rounds=turn, budget=budget, tokens_of=tokens_of)
    assert list(full.messages[: len(bare.messages)]) == list(bare.messages)
    assert not full.truncated
    assert not full.omitted_files
    responses = [message.text for message in full.messages[len(bare.messages) :] if message.letter == "TR"]
    assert responses == [call.response for each in turn for call in each.calls]


@given(branches(), framings, budgets)
@settings(max_examples=examples(100))
def test_the_history_sent_is_a_suffix_of_the_branch(entries, prompt_parts, budget):
    prompt_parts = replace(prompt_parts, reads_files=False)
    cut = attempt(entries, prompt_parts, (), budget)
    if cut is None:
        return
    everything = history(attempt(entries, prompt_parts, (), Budget(10**6)), entries, prompt_parts)
    kept = history(cut, entries, prompt_parts)
    assert kept == everything[len(everything) - len(kept) :]


def history(context: Context | None, entries: list[Entry], prompt_parts: PromptParts) -> list[str]:
    """Without what stands in front of the question: a block there may have come from the history."""
    assert context is not None
    question = [*entries[:-1], replace(entries[-1])][-1:]
    alone = build_context(question, prompt_parts, budget=Budget(10**6), tokens_of=tokens_of).messages
    head = sum(message.letter in ("S", "SUM") for message in alone)
    texts = [message for message in context.messages[head:] if message.letter not in ("CA", "P", "D")]
    tail = sum(message.letter not in ("S", "SUM", "CA", "P", "D") for message in alone)
    return [f"{message.letter} {message.text}" for message in texts[: len(texts) - tail]]


@given(branches(), framings, turns, budgets)
@settings(max_examples=examples(60))
def test_no_text_is_counted_twice(entries, prompt_parts, turn, budget):
    counted: list[str] = []

    def count(text: str, _stored: int) -> int:
        counted.append(text)
        return tokens_of(text)

    try:
        build_context(entries, prompt_parts, rounds=turn, budget=budget, tokens_of=count)
    except ContextTooLong:
        return
    assert len(counted) == len(set(counted))


@given(branches(), framings, budgets)
@settings(max_examples=examples(60))
def test_only_fixed_parts_can_exceed_the_budget(entries, prompt_parts, budget):
    if attempt(entries, prompt_parts, (), budget) is not None:
        return
    latest = {block.kind: block for entry in entries[:-1] for block in entry.blocks}
    own = {block.kind: block for block in entries[-1].blocks}
    fixed = [replace(entries[-1], blocks=tuple((latest | own).values()))]
    alone = build_context(
        fixed, replace(prompt_parts, reads_files=False), budget=Budget(10**6), tokens_of=tokens_of
    )
    assert alone.tokens > budget.tokens


@pytest.mark.parametrize("length", [10, 1000])
def test_messages_that_are_not_sent_are_not_counted(length):
    counted: list[str] = []

    def count(text: str, stored: int) -> int:
        counted.append(text)
        return stored or tokens_of(text)

    entries = [
        Entry(str(n), "assistant" if n % 2 else "user", f"text {n}", SENT_AT, token_count=100)
        for n in range(length + 1)
    ]
    context = build_context(entries, PromptParts(), budget=Budget(700), tokens_of=count)
    assert len(counted) <= len(context.messages) + 1
