"""What is said of the tool of a call that waits."""

import pytest

from chat.transcript.tools import MAX_SUMMARY_CHARACTERS, first_sentence

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("description", "sentence"),
    [
        ("", ""),
        ("Adds a note. It is kept for ever.", "Adds a note."),
        ("Adds a note,\n  e.g. of tides, to version 3.5 of the book! Slowly.", "Adds a note, e.g. of tides, to version 3.5 of the book!"),
        ("adds a note", "adds a note"),
        ("\u52a0\u4e00\u6761\u3002\u6162\u3002", "\u52a0\u4e00\u6761\u3002"),
    ],
)  # fmt: skip
def test_the_first_sentence_of_a_description_ends_where_the_next_begins(
    description: str, sentence: str
) -> None:
    assert first_sentence(description) == sentence


def test_a_sentence_without_an_end_is_cut() -> None:
    cut = first_sentence("tide " * 1_000)
    assert (len(cut), cut[-1]) == (MAX_SUMMARY_CHARACTERS, "…")
