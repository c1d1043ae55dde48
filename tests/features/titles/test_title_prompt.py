"""Parsing a title from a model's reply, and the fallback."""

import pytest

from chat.transcript.readable_text import provisional_title
from features.titles.generation import title_in, title_messages

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("reply", "title"),
    [
        pytest.param("Two Tides a Day", "Two Tides a Day", id="as it is"),
        pytest.param('  "Two Tides a Day."\n', "Two Tides a Day", id="quoted, with a full stop"),
        pytest.param("„Zwei Gezeiten am Tag“", "Zwei Gezeiten am Tag", id="quoted in German"),
        pytest.param("**Two Tides**", "Two Tides", id="bold"),
        pytest.param("# Two Tides", "Two Tides", id="a heading"),
        pytest.param("Title: Two Tides", "Two Tides", id="labelled"),
        pytest.param("**Title:** *Two Tides*", "Two Tides", id="labelled in bold"),
        pytest.param("Two **Tides** a `Day`", "Two Tides a Day", id="bold and code inside"),
        pytest.param("## **Tides**: _twice_ a day", "Tides: twice a day", id="bold at the beginning"),
        pytest.param("- [Two Tides](https://a.example/tides)", "Two Tides", id="a link in a list"),
        pytest.param("2*3*4 in snake_case_names", "2*3*4 in snake_case_names", id="marks that are none"),
        pytest.param("> “**Two Tides**”", "Two Tides", id="quoted and bold"),
        pytest.param("Learning C#", "Learning C#", id="a name that ends with a mark"),
        pytest.param(".NET or C++?", ".NET or C++?", id="a name that begins with one"),
        pytest.param("\n\nTwo Tides\n\nI hope this helps!", "Two Tides", id="the first line counts"),
        pytest.param("<think>Moon…\nSun…</think>\n\nTwo Tides", "Two Tides", id="after thinking"),
        pytest.param("<think>Moon…\nSun…", "", id="nothing but thinking"),
        pytest.param('```json\n{"title": "The Right Title"}\n```', "The Right Title", id="JSON in a fence"),
        pytest.param('{"title": "The Right\nTitle", "emoji": 1}', "The Right", id="JSON"),
        pytest.param("```\nTwo Tides\n```", "Two Tides", id="a fence"),
        pytest.param("~~~text\n**Two Tides**\n~~~", "Two Tides", id="bold in a fence"),
        pytest.param('{"name": "Two Tides"}', '{"name": "Two Tides"}', id="other JSON"),
        pytest.param("Moon…\nSun…\n</think>\n\nTwo Tides", "Two Tides", id="after thinking without its tag"),
        pytest.param("<thought>Moon</thought>Two Tides", "Two Tides", id="after thinking in other tags"),
        pytest.param("one two three four five six seven", "one two three four five six", id="six words"),
        pytest.param("潮" * 100, "潮" * 80, id="no words"),
        pytest.param("Two\x00 \ud83dTides", "Two\ufffd \ufffdTides", id="what Postgres cannot take"),
        pytest.param(' "" ', "", id="nothing in quotation marks"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_the_title_is_parsed_from_the_reply(reply: str, title: str) -> None:
    assert title_in(reply) == title


@pytest.mark.parametrize(
    ("question", "title"),
    [
        ("Why two tides a day?", "Why two tides a day?"),
        ("Why\n\n  two\ttides?", "Why two tides?"),
        ("word " * 20, "word word word word word word word word…"),
        ("How often is it low water at Husum in May?", "How often is it low water at Husum in…"),
        ("word " * 8, "word word word word word word word word"),
        ("x" * 100, "x" * 39 + "…"),
        ("# Tides\n\n**Why** are there [two](https://a.example)?", "Tides Why are there two?"),
        ("> It is *low* water\n- at `noon`", "It is low water at noon"),
        ("Explain 2 * 3 * 4 and a_b_c", "Explain 2 * 3 * 4 and a_b_c"),
        ("```python\nprint(1)\n```", "print(1)"),
        ("Say " + "*a" * 5_000, "Say " + "*a" * 17 + "*…"),
        (" \n ", ""),
    ],
)
def test_the_fallback_is_the_beginning_of_the_question(question: str, title: str) -> None:
    assert provisional_title(question) == title


def test_the_prompt_quotes_question_and_answer_in_one_user_message() -> None:
    system, asked = title_messages("Why? " * 1000, "Because. " * 1000)
    assert (system.letter, asked.letter) == ("S", "U")
    assert asked.text.startswith("Question:\nWhy? Why?")
    assert asked.text.endswith("\n\nTitle:")
    assert len(asked.text) < 4_000
