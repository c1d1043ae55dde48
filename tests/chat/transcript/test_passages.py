"""The text of an answer with tools is one text to read, with a paragraph break where tools ran."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.transcript.readable_text import close_code_block, paragraph_break, readable_text

pytestmark = pytest.mark.pure

CASES = json.loads(Path(__file__).with_name("passages.json").read_text())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_passages_are_paragraphs(case: dict[str, list[str]]) -> None:
    *before, _ = case["passages"]
    assert readable_text("".join(case["passages"]), enumerate(before)) == case["joined"]


def test_parallel_calls_share_the_text_before_them() -> None:
    assert (
        readable_text("One.Two.Three.", [(0, "One."), (0, "One."), (1, "Two.")]) == "One.\n\nTwo.\n\nThree."
    )


def test_a_text_that_is_cut_ends_in_any_of_its_passages() -> None:
    rounds = [(0, "One."), (1, "Two."), (2, "Three.")]
    assert readable_text("One.Tw", rounds) == "One.\n\nTw"
    assert readable_text("On", rounds) == "On"


def test_a_text_that_does_not_begin_with_that_of_its_rounds_is_left_as_it_is() -> None:
    assert readable_text("Something else.", [(0, "One.")]) == "Something else."


@given(st.lists(st.text("ab .\n`~>-1"), min_size=1, max_size=4))
def test_no_word_is_lost_and_closing_twice_changes_nothing(passages: list[str]) -> None:
    *before, _ = passages
    joined = readable_text("".join(passages), enumerate(before))
    assert [one for one in joined if one in "ab."] == [one for one in "".join(passages) if one in "ab."]
    assert close_code_block(close_code_block(joined)) == close_code_block(joined)


@pytest.mark.parametrize(
    ("before", "text", "missing"),
    [
        ("Let me look.", "It is dry.", "\n\n"),
        ("Let me look. ", "It is dry.", "\n\n"),
        ("Let me look.\n", "It is dry.", "\n"),
        ("Let me look.\n", " \nIt is dry.", ""),
        ("Let me look.", "\n\n\nIt is dry.", ""),
    ],
)
def test_a_paragraph_gets_the_line_ends_that_are_missing_before_it(
    before: str, text: str, missing: str
) -> None:
    assert paragraph_break(before, text) == missing
