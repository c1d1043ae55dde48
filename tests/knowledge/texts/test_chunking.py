"""Splitting texts into chunks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.texts.chunking import CHUNK_CHARACTERS, OVERLAP_CHARACTERS, split_chunks

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


def test_a_sentence_is_repeated_in_scripts_without_white_space() -> None:
    sentence = "これは長い文章ですね。"
    text = sentence * 300
    chunks = list(split_chunks(text))
    assert len(chunks) > 2
    for before, after in pairwise(chunks):
        assert after.text.startswith(sentence)
        assert 0 < before.start + len(before.text) - after.start <= OVERLAP_CHARACTERS


def test_a_chunk_is_of_one_page() -> None:
    pages = ["Low water comes twice. " * 30, "", "High water follows it. " * 100]
    text = "\n\f\n".join(pages)
    chunks = list(split_chunks(text))
    assert all("\f" not in part for _, part in chunks)
    assert [text.count("\f", 0, start) for start, _ in chunks] == [0, *[2] * (len(chunks) - 1)]
    assert all(text[start : start + len(part)] == part for start, part in chunks)


@given(st.text(alphabet="ab \n.#\f", max_size=60), st.integers(1, 400))
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


_WHITE_SPACE = " \n\r\t\x0b\x0c\u00a0\u2003\u2028\u3000\x1c"
_PIECES = st.one_of(
    st.text(alphabet=_WHITE_SPACE, min_size=1, max_size=12),
    st.text(max_size=12),
    st.sampled_from([" ", "\n", "\t", "\r\n", "x", ".", "_", "( ", "\U0001f30a"]),
)


@given(st.lists(st.tuples(_PIECES, st.integers(1, 3_000)), max_size=6))
def test_any_text_is_split_and_nothing_visible_is_lost(parts: list[tuple[str, int]]) -> None:
    text = "".join(piece * times for piece, times in parts)
    covered = 0
    for start, part in split_chunks(text):
        assert text[start : start + len(part)] == part
        assert part.strip()
        assert len(part) <= CHUNK_CHARACTERS
        assert not text[covered:start].strip()
        covered = max(covered, start + len(part))
    assert not text[covered:].strip()


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("".join(" " * length + "x" for length in range(1, 1_500)), id="runs of every length"),
        pytest.param("".join("\n" * length + "x" for length in range(1, 1_500)), id="line breaks of every length"),
        pytest.param(
            "".join(f"{number:012b}x".replace("0", "\n").replace("1", "\r") for number in range(3_000)),
            id="different runs of one length",
        ),
        pytest.param(" " * 3_000_000, id="one run"),
    ],
)  # fmt: skip
def test_white_space_of_any_form_is_split(text: str, caplog: pytest.LogCaptureFixture) -> None:
    found = list(split_chunks(text))
    assert sum(part.count("x") for _, part in found) >= text.count("x")
    assert not caplog.records


def test_a_text_at_which_the_splitter_fails_is_split_at_fixed_places(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RecursionError

    monkeypatch.setattr("semchunk.semchunk.chunk", fail)
    text = "Low water comes twice. " * 500
    found = list(split_chunks(text))
    assert len(found) > 1
    assert found[-1].start + len(found[-1].text) == len(text.rstrip())
