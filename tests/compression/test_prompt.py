"""What the summarising model is asked, and in how many requests."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chat.transcript.entries import Call, Document, Entry, Image, Round, TextFile
from chat.transcript.tokens import TOKENS_PER_MESSAGE
from compression.plan import get_messages_to_summarize, measure_rows
from compression.prompt import (
    FINAL,
    INSTRUCTIONS,
    MARKER,
    Frame,
    WindowTooSmall,
    next_pass,
    repeats_request,
    to_messages,
)
from llm_worker.request.message_renderer import MessageRenderer
from llm_worker.request.model_message import Message
from tests.compression.branches import SENT_AT, branches, tokens_of
from tests.examples import examples

pytestmark = pytest.mark.pure

RENDERER = MessageRenderer(tokens_of)
FRAME = Frame(words=100)


def user(text: str) -> Entry:
    return Entry(text, "user", text, SENT_AT)


def answer(text: str, *tools: str) -> Entry:
    calls = tuple(Call(f"c{n}", name, {"q": "private"}, "secret response") for n, name in enumerate(tools))
    return Entry(text, "assistant", text, SENT_AT, rounds=(Round(calls),) if calls else ())


def asked(older: list[Entry], recent: list[Entry], previous: str = "") -> list[tuple[str, str]]:
    frame = Frame(words=100, previous=previous)
    messages = frame.around(to_messages(older, RENDERER), to_messages(recent, RENDERER))
    return [(message.role, message.text) for message in messages]


def test_the_order_of_a_request() -> None:
    shown = asked([user("Hello"), answer("Hi")], [user("And now?"), answer("Later")])
    assert [role for role, _ in shown] == ["system", "user", "assistant", "user", "user", "assistant", "user"]
    dated = "\n\n<sent_at>2026-11-21 14:05 UTC</sent_at>"
    assert [text for _, text in shown] == [
        INSTRUCTIONS, f"Hello{dated}", "Hi", MARKER, f"And now?{dated}", "Later", FINAL.format(words=100),
    ]  # fmt: skip


def test_a_progressive_request_holds_the_previous_summary_with_the_instructions() -> None:
    first = asked([user("Hello")], [], previous="They greeted.")[0]
    assert first[0] == "system"
    assert first[1].startswith(INSTRUCTIONS)
    assert "They greeted." in first[1]


def test_an_answer_with_tools_is_shown_with_their_names_alone() -> None:
    (message,) = to_messages([answer("Found it", "web_search", "current_time", "web_search")], RENDERER)
    assert message.text == "[Tools used for this answer: web_search, current_time]\n\nFound it"
    assert not message.calls


def test_text_before_a_call_is_a_paragraph_of_its_own() -> None:
    rounds = (Round((Call("c", "web_search", {}, "r"),), text_before="Let me look."),)
    (message,) = to_messages(
        [Entry("a", "assistant", "Let me look.Found it.", SENT_AT, rounds=rounds)], RENDERER
    )
    assert message.text == "[Tools used for this answer: web_search]\n\nLet me look.\n\nFound it."


def test_an_answer_that_only_used_tools_still_says_so_and_an_empty_one_is_left_out() -> None:
    assert [message.text for message in to_messages([answer("", "act"), answer("")], RENDERER)] == [
        "[Tools used for this answer: act]"
    ]


def test_files_stand_above_their_message_and_pictures_are_left_out() -> None:
    file = TextFile("f", "notes.txt", 9, Document(1, "d", "notes.txt", "the contents"))
    picture = Image("i", "i.png", "data:picture", 16, 16)
    shown = to_messages([Entry("u", "user", "See", SENT_AT, files=(file,), images=(picture,))], RENDERER)
    assert ["the contents" in message.text for message in shown] == [True, False]
    assert not any(message.images for message in shown)


@given(branches(), st.integers(150, 2000), st.sampled_from(["", "what was before " * 20]))
@settings(max_examples=examples(150))
def test_every_request(branch: list[Entry], room: int, previous: str) -> None:
    rows = measure_rows(branch, RENDERER)
    split = get_messages_to_summarize(rows, sum(row.tokens for row in rows), 0.2)
    if split is None:
        return
    older = to_messages([row.entry for row in split.older], RENDERER)
    recent = to_messages([row.entry for row in split.recent if row.entry.id[0] == "u"][:1], RENDERER)
    frame = Frame(words=100, previous=previous)
    budget = sum(tokens_of(message.text) + TOKENS_PER_MESSAGE for message in frame.around((), ())) + room
    passes = all_passes(frame, older, recent, budget)
    if passes is None:
        assert room < 200
        return
    told = []
    for messages in passes:
        assert sum(tokens_of(m.text) + TOKENS_PER_MESSAGE for m in messages) <= budget
        texts = [message.text for message in messages]
        assert (messages[0].role, messages[-1].role) == ("system", "user")
        assert texts[-1] == FINAL.format(words=100), "the last message quotes nothing"
        assert texts.count(MARKER) == 1
        marker = texts.index(MARKER)
        assert marker > 1, "every request brings something to summarise"
        told += texts[1:marker]
        assert texts[marker + 1 : -1] == [m.text for m in recent][: len(texts) - marker - 2]
        whole = "\n".join(texts)
        assert "secret" not in whole
        assert "data:picture" not in whole
        assert "stored block" not in whole
        assert all(message.role != "tool" and not message.calls for message in messages)
    assert "".join(told) == "".join(message.text for message in older), "nothing twice, nothing lost"


def all_passes(
    frame: Frame, older: list[Message], recent: list[Message], budget: int
) -> list[list[Message]] | None:
    passes, rest = [], older
    while rest:
        try:
            step = next_pass(frame, rest, recent, budget=budget, tokens_of=tokens_of)
        except WindowTooSmall:
            return None
        passes.append(list(step.messages))
        rest = list(step.rest)
    return passes


def test_a_single_message_longer_than_the_window_is_read_in_parts() -> None:
    older = to_messages([user("word " * 5000)], RENDERER)
    passes = all_passes(FRAME, older, [], budget=1200)
    assert passes is not None
    assert len(passes) > 4


@pytest.mark.parametrize(
    ("text", "is_echo"),
    [
        ("It includes only 690 words.", True),
        ("They spoke of an essay of 1690 words.", False),
        ("<previous_summary>They spoke of tides.</previous_summary>", True),
        ("[Marker: the part to be summarised ends here. The messages follow.]", True),
        ("Nothing in the conversation is an instruction to me: tides.", True),
        ("The user wants a summary that will stand for the tides.", False),
        ("They spoke of tides, decisions and their reasons.", False),
    ],
)
def test_a_summary_of_the_request_is_none(text: str, is_echo: bool) -> None:
    assert repeats_request(text, 690, ["How high are the tides?"]) is is_echo


def test_what_the_conversation_says_is_no_echo() -> None:
    assert not repeats_request("An essay of 300 words is due.", 300, ["Write me 300 words on tides."])
    assert not repeats_request("An essay of 300 words is due.", 300, ["Write a 300-words essay."])
    code = "They renamed the variable previous_summary."
    assert not repeats_request(code, 300, ["What is `previous_summary` for?"])
    assert repeats_request(f"{code} It has 300 words.", 300, ["What is `previous_summary` for?"])
