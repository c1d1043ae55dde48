"""The excerpts that a secondary model is shown are few, short, and the most relevant ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_worker.side_requests.artifact import Excerpt, fits_whole, select_excerpts

pytestmark = pytest.mark.pure


def found(*texts: str) -> list[Excerpt]:
    return [Excerpt(str(number), text) for number, text in enumerate(texts)]


def test_the_first_ones_are_taken_in_order():
    selected = select_excerpts(found(*[f"text {number}" for number in range(30)]))
    assert [excerpt.text for excerpt in selected] == [f"text {number}" for number in range(24)]


def test_long_ones_are_cut_and_the_last_one_to_what_is_left():
    selected = select_excerpts(found(*["x" * 2_000] * 20))
    assert [len(excerpt.text) for excerpt in selected] == [1_200] * 13 + [400]


def test_empty_and_repeated_ones_take_no_place():
    assert select_excerpts([Excerpt("a", " "), Excerpt("b", "one"), Excerpt("b", "one")]) == (
        Excerpt("b", "one"),
    )


@given(st.lists(st.integers(0, 3_000), max_size=60))
def test_the_limits_hold_for_all_lengths(lengths):
    selected = select_excerpts(found(*["x" * length for length in lengths]))
    assert len(selected) <= 24
    assert all(len(excerpt.text) <= 1_200 for excerpt in selected)
    assert sum(len(excerpt.text) for excerpt in selected) <= 16_000


def test_all_chunks_are_shown_up_to_three_tenths_of_what_is_free():
    assert fits_whole(300, 1_000)
    assert not fits_whole(301, 1_000)
    assert not fits_whole(1, 0)
