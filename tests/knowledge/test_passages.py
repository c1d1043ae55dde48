"""Splitting texts into passages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.passages import OVERLAP_CHARACTERS, PASSAGE_CHARACTERS, split_passages

pytestmark = pytest.mark.pure


def test_a_short_text_is_one_passage_and_a_blank_one_is_none() -> None:
    assert list(split_passages("Two tides a day.")) == [(0, "Two tides a day.")]
    assert list(split_passages("")) == list(split_passages(" \n ")) == []


def test_passages_end_before_headings_and_after_paragraphs() -> None:
    part = "Low water comes twice. " * 50
    text = f"# Tides\n\n{part}\n## Moon\n\n{part}\n\n{part}"
    first, second, *_ = split_passages(text)
    assert first.text.endswith("twice. \n")
    assert "## Moon" in second.text
    assert second.text.endswith("\n\n")


@given(st.text(alphabet="ab \n.#", max_size=60), st.integers(1, 400))
def test_passages_cover_the_text_in_order(piece: str, times: int) -> None:
    text = piece * times
    passages = list(split_passages(text))
    assert all(text[start : start + len(part)] == part for start, part in passages)
    assert all(0 < len(part) <= PASSAGE_CHARACTERS for _, part in passages)
    covered = 0
    for start, part in passages:
        assert start <= covered or not text[covered:start].strip()
        assert covered - start <= OVERLAP_CHARACTERS
        assert start + len(part) > covered
        covered = start + len(part)
    assert not text[covered:].strip()
