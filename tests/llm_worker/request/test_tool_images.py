"""Images that tools returned, in the requests of their turn and of later ones."""

from dataclasses import replace

import pytest

from chat.transcript.entries import Call, Entry, Image, Round
from chat.transcript.tokens import picture_tokens
from llm_worker.request.context import Budget, Context, build_context
from llm_worker.request.model_message import to_api_messages
from llm_worker.request.prompt_parts import PromptParts
from tests.llm_worker.notation import SENT_AT

pytestmark = pytest.mark.pure

LARGE = picture_tokens(1024, 1024)
CHART = Image("1", "draw, image 1", "data:image/png;base64,QQ==", 1024, 1024)
TWO = (CHART, replace(CHART, id="2", name="draw, image 2"))
SEEN = "[Images that the tools returned, in this order: draw, image 1; draw, image 2]"


def question(number: int = 1) -> Entry:
    return Entry(f"u{number}", "user", "Why?", SENT_AT)


def a_round(*images: Image) -> Round:
    return Round((Call("a", "draw", {}, "Drawn.", images=images), Call("b", "draw", {}, "Drawn too.")))


def build(
    entries: list[Entry], *rounds: Round, tokens: int = 100_000, reserved: int = 0, sees: bool = True
) -> Context:
    parts = PromptParts(sees_images=sees)
    budget = Budget(tokens, reserved)
    return build_context(
        entries, parts, rounds=rounds, budget=budget, tokens_of=lambda text, _: len(text.split())
    )


def letters(context: Context) -> str:
    return " ".join(message.letter for message in context.messages)


def test_they_follow_the_responses_of_their_round_in_one_user_message():
    context = build([question()], a_round(*TWO), a_round())
    assert letters(context) == "U TC TR TR TI TC TR TR"
    *_, shown = to_api_messages(context.messages[:5])
    assert shown["role"] == "user"
    assert [part["type"] for part in shown["content"]] == ["text", "image_url", "image_url"]
    assert shown["content"][0]["text"] == SEEN
    assert context.messages[4].tokens > 2 * LARGE


def test_later_turns_show_them_and_leave_them_out_with_their_round():
    answer = Entry("a1", "assistant", "Because.", SENT_AT, rounds=(a_round(*TWO),))
    branch = [question(), answer, question(2)]
    assert letters(build(branch)) == "U TC TR TR TI A U"
    assert letters(build(branch, tokens=2 * LARGE)) == "A U"


def test_a_model_that_does_not_see_gets_no_message_instead():
    assert letters(build([question()], a_round(*TWO), sees=False)) == "U TC TR TR"


def test_an_image_that_cannot_be_read_is_not_sent():
    assert letters(build([question()], a_round(replace(CHART, url="")))) == "U TC TR TR"


def test_those_without_room_are_named_and_the_responses_stay():
    context = build([question()], a_round(*TWO), tokens=2 * LARGE)
    assert letters(context) == "U TC TR TR TI"
    assert context.messages[-1].images == TWO[:1]
    assert context.messages[-1].text.endswith("[Images left out, no room: draw, image 2]")
    assert (context.messages[2].text, context.truncated) == ("Drawn.", ())
    none = build([question()], a_round(*TWO), tokens=500)
    assert none.messages[-1].images == ()


def test_each_request_of_a_turn_extends_the_one_before():
    first = build([question()], a_round(*TWO), tokens=3 * LARGE)
    second = build([question()], a_round(*TWO), a_round(*TWO), tokens=3 * LARGE)
    assert second.messages[: len(first.messages)] == first.messages
