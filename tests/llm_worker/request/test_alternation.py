"""Requests to servers that demand alternating roles."""

import pytest
from hypothesis import given, settings

from chat.transcript.entries import Call, Image
from chat.transcript.tokens import TOKENS_PER_MESSAGE, count_tokens
from llm_worker.request.alternation import (
    EARLIER,
    IMAGES_FOLLOW,
    PLACEHOLDER_TOKENS,
    UNFINISHED,
    alternate_roles,
)
from llm_worker.request.model_message import Message, to_api_messages
from tests.examples import examples
from tests.llm_worker.request.test_context_properties import attempt, branches, budgets, framings, turns
from tests.upstream_template import refusal

pytestmark = pytest.mark.pure

CALLS = (Call("c", "search", {}),)


def message(word: str) -> Message:
    """S, U1, R …: a message of this letter with the word as its text; TC and TR of one call; A- is empty."""
    if word == "TC":
        return Message("TC", "", CALLS, tokens=9)
    if word == "TR":
        return Message("TR", "TR", tool_call_id="c", tokens=9)
    if word == "A-":
        return Message("A", " ", tokens=4)
    return Message(word.rstrip("0123456789"), word, tokens=9)  # type: ignore[arg-type]


def sent(words: str) -> str:
    """The messages in order, each as the texts in it, joined by +."""
    messages = alternate_roles([message(word) for word in words.split()])
    assert refusal(to_api_messages(messages)) == ""
    names = {EARLIER: "earlier", UNFINISHED: "unfinished", IMAGES_FOLLOW: "follow"}
    return " ".join(
        "TC" if each.calls else "+".join(names.get(text, text) for text in each.text.split("\n\n"))
        for each in messages
    )


@pytest.mark.parametrize(
    ("built", "strict"),
    [
        ("S U1 A1 U2", "S U1 A1 U2"),
        ("S SUM U1 A1 CA P D N F U2", "S SUM+U1 A1 CA+P+D+N+F+U2"),
        ("S CA U1 R", "S CA+U1+R"),
        ("CA U1", "CA+U1"),
        ("S U1 A- U2 A2 U3", "S U1+U2 A2 U3"),
        ("S U1 U2", "S U1+U2"),
        ("S U1 TC TR A1 U2 TC TR TC TR R", "S U1 TC TR A1 U2 TC TR TC TR+R"),
        ("S U1 TC TR D U2", "S U1 TC TR unfinished D+U2"),
        ("S U1 TC TR A- U2", "S U1 TC TR unfinished U2"),
        ("S A1 U2", "S earlier A1 U2"),
        ("S TC TR A1 U2", "S earlier TC TR A1 U2"),
        ("A1 U2", "earlier A1 U2"),
        ("S SUM A1 U2", "S SUM A1 U2"),
        ("S U1 A1 A2 U2", "S U1 A1+A2 U2"),
        ("S U1 A1 TC TR A2 U2", "S U1 TC TR A2 U2"),
        ("S U1 TC TR R A1", "S U1 TC TR+R A1"),
        ("S U1 TC TR TR TI TC TR TI R", "S U1 TC TR TR follow TI TC TR follow TI+R"),
        ("S U1 TC TR TI A1 U2", "S U1 TC TR follow TI A1 U2"),
    ],
)
def test_roles_alternate_and_no_text_is_lost(built, strict):
    assert sent(built) == strict


def test_a_joined_message_keeps_pictures_calls_letters_and_tokens():
    picture = Image("i", "i.png", "data:", 16, 16)
    [asked] = alternate_roles([message("D"), Message("U", "Look.", images=(picture,), tokens=30)])
    assert (asked.letter, asked.letters, asked.images) == ("U", ("D", "U"), (picture,))
    assert asked.tokens == 9 + 30 - TOKENS_PER_MESSAGE + 1
    answer, calls = Message("A", "Before.", tokens=9), Message("TC", "Now.", CALLS, tokens=9)
    [_, said, _] = alternate_roles([message("U1"), answer, calls, message("TR")])
    assert (said.text, said.calls) == ("Before.\n\nNow.", CALLS)


def test_the_price_of_placeholders_covers_their_tokens():
    assert (
        max(map(count_tokens, (EARLIER, UNFINISHED, IMAGES_FOLLOW))) + TOKENS_PER_MESSAGE
        <= PLACEHOLDER_TOKENS
    )


@given(branches(), framings, turns, budgets)
@settings(max_examples=examples(100))
def test_whatever_a_request_holds_a_strict_server_accepts_all_of_it(entries, prompt_parts, turn, budget):
    context = attempt(entries, prompt_parts, turn, budget)
    if context is None:
        return
    strict = alternate_roles(context.messages)
    assert refusal(to_api_messages(strict)) == ""
    texts = iter("\n\n".join(each.text for each in strict).split("\n\n"))
    wanted = [part for each in context.messages for part in each.text.split("\n\n") if part]
    assert all(part in texts for part in wanted)  # in this order
    assert sum(each.calls != () for each in strict) == sum(each.calls != () for each in context.messages)
    assert alternate_roles(strict) == strict
