"""What the model sees, in a compact notation.

A word is one message: its letter (S system, D dynamic context, U user, A answer), its turn and, after a colon, its
tokens; an empty answer is `A1-`. Each message costs its tokens alone: the fixed costs around it are taken out.
"""

import re
from datetime import UTC, datetime, timedelta

import pytest

from chat.transcript import Entry
from llm_worker.context import Budget, ContextTooLong, build_context, request_budget, system_prompt
from llm_worker.framing import Framing
from llm_worker.message import TOKENS_PER_MESSAGE
from llm_worker.replay import SENT_AT_TOKENS, dated

SENT_AT = datetime(2026, 11, 21, 14, 5, 59, tzinfo=UTC)
WORD = re.compile(r"(?P<name>[A-Z]\d?)(?P<empty>-?)(?::(?P<tokens>\d+))?")


def parsed(notation: str) -> tuple[Framing, list[Entry], dict[str, int]]:
    framing = {"S": "", "D": ""}
    entries, costs = [], {}
    for word in notation.split():
        match = WORD.fullmatch(word)
        name, letter = match["name"], match["name"][0]
        costs[name] = int(match["tokens"] or 1)
        if letter in framing:
            framing[letter] = name
        else:
            role = "user" if letter == "U" else "assistant"
            entries.append(Entry(name, role, "" if match["empty"] else name, SENT_AT))
    return Framing(system=framing["S"], dynamic_context=framing["D"]), entries, costs


def built(notation: str, budget: int) -> tuple[str, bool]:
    framing, entries, costs = parsed(notation)

    def tokens_of(text: str, _stored: int) -> int:
        fixed = TOKENS_PER_MESSAGE + (SENT_AT_TOKENS if text.startswith("U") else 0)
        return costs[text] - fixed

    context = build_context(entries, framing, budget=Budget(budget), tokens_of=tokens_of)
    names = " ".join(message.text.partition("\n")[0] for message in context.messages)
    assert context.tokens == sum(costs[name] for name in names.split())
    assert all(message.letter == message.text[0] for message in context.messages)
    return names, context.is_tight


@pytest.mark.parametrize(
    ("given", "budget", "seen"),
    [
        pytest.param("S U1", 100, "S U1", id="a first question"),
        pytest.param("S U1 A1 U2", 100, "S U1 A1 U2", id="two turns"),
        pytest.param("U1 A1 U2", 100, "U1 A1 U2", id="an empty system prompt is no message"),
        pytest.param("S D U1 A1 U2", 100, "S U1 A1 D U2", id="dynamic context stands above the question"),
        pytest.param("S U1 A1- U2", 100, "S U1 U2", id="an answer without text is left out"),
        pytest.param("S U1 A1 U2 A2 U3", 6, "S U1 A1 U2 A2 U3", id="everything fits exactly"),
        pytest.param("S U1 A1 U2 A2 U3", 5, "S A1 U2 A2 U3", id="the oldest goes first"),
        pytest.param("S U1 A1:9 U2 A2 U3", 8, "S U2 A2 U3", id="it stops at the first that does not fit"),
        pytest.param("S U1 A1 U2", 2, "S U2", id="the question alone"),
        pytest.param("S:5 D:5 U1:5 A1 U2:5", 15, "S D U2", id="what is fixed is charged before history"),
    ],
)
def test_the_model_sees(given, budget, seen):
    assert built(given, budget)[0] == seen


@pytest.mark.parametrize("given", ["S:2 U1:2", "S D:2 U1", "U1:4", "S U1 A1 U2:3"])
def test_what_must_be_sent_and_does_not_fit_is_refused(given):
    with pytest.raises(ContextTooLong):
        built(given, 3)


@pytest.mark.parametrize(
    ("given", "budget", "tight"),
    [("S U1", 100, False), ("S:90 U1", 100, True), ("S:80 U1", 100, False), ("U1 A1:500 U2", 100, True)],
)
def test_a_request_near_the_budget_or_cut_is_tight(given, budget, tight):
    assert built(given, budget)[1] is tight


def test_a_user_message_ends_with_its_minute_in_utc():
    assert dated("Hi", SENT_AT) == "Hi\n\n<sent_at>2026-11-21 14:05 UTC</sent_at>"


def test_an_earlier_message_is_the_same_bytes_in_every_later_turn():
    framing, entries, costs = parsed("S U1 A1 U2 A2 U3")
    build = {"framing": framing, "budget": Budget(10**6), "tokens_of": lambda text, _: costs[text]}
    early = build_context(entries[:1], **build).messages
    late = build_context(entries, **build).messages
    assert list(late[:2]) == list(early)


def test_roles_are_those_of_the_wire():
    framing, entries, costs = parsed("S D U1 A1 U2")
    context = build_context(entries, framing, budget=Budget(10**6), tokens_of=lambda text, _: costs[text])
    assert [message.role for message in context.messages] == ["system", "user", "assistant", "user", "user"]


def test_the_date_in_an_edited_prompt_is_the_day_the_session_began():
    assert system_prompt("Today is {{CURRENT_DATE}}.", SENT_AT) == "Today is 2026-11-21."
    assert system_prompt("Nothing.", SENT_AT + timedelta(days=3)) == "Nothing."


@pytest.mark.parametrize(("window", "output", "budget"), [(128_000, 4096, 117_504), (2048, 512, 1433)])
def test_the_budget_is_most_of_the_window_without_the_answer(window, output, budget):
    assert request_budget(window, output).tokens == budget
