"""Splitting texts into chunks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.chunking import CHUNK_CHARACTERS, OVERLAP_CHARACTERS, split_chunks

pytestmark = pytest.mark.pure


def test_a_short_text_is_one_chunk_and_a_blank_one_is_none() -> None:
    assert list(split_chunks("Two tides a day.")) == [(0, "Two tides a day.")]
    assert list(split_chunks("")) == list(split_chunks(" \n ")) == []


def test_a_chunk_begins_with_its_heading() -> None:
    part = "Low water comes twice. " * 50
    text = f"# Tides\n\n{part}\n\n## Moon\n\n{part}"
    first, second = split_chunks(text)
    assert first.text.startswith("# Tides\n\nLow")
    assert second.text.startswith("## Moon\n\nLow")


def test_what_has_no_headings_repeats_a_sentence() -> None:
    first, second, *_ = split_chunks("Low water comes twice. " * 150)
    assert first.text.endswith("twice.")
    assert second.text.startswith("Low water")
    assert 0 < first.start + len(first.text) - second.start <= OVERLAP_CHARACTERS


@given(st.text(alphabet="ab \n.#", max_size=60), st.integers(1, 400))
def test_chunks_cover_the_text_in_order(piece: str, times: int) -> None:
    text = piece * times
    chunks = list(split_chunks(text))
    assert all(text[start : start + len(part)] == part for start, part in chunks)
    assert all(0 < len(part) <= CHUNK_CHARACTERS for _, part in chunks)
    covered = 0
    for start, part in chunks:
        assert start <= covered or not text[covered:start].strip()
        assert covered - start <= OVERLAP_CHARACTERS
        assert start + len(part) > covered
        covered = start + len(part)
    assert not text[covered:].strip()
