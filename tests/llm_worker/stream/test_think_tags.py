"""Reasoning between tags is told from the answer, whichever tags a model writes and however they are split."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from llm_worker.stream.think_tags import TAGS, Reasoning, ThinkSplitter, split_untagged, without_reasoning

pytestmark = pytest.mark.pure

LONE = "So the user asks.\n</think>\n\nThe answer"


def split(text: str, *cuts: int, untagged: bool = False) -> tuple[str, str]:
    """The reasoning and the answer of a text that arrives in pieces."""
    splitter, pieces = ThinkSplitter(is_untagged=untagged), list[str | Reasoning]()
    for start, stop in zip([0, *cuts], [*cuts, len(text)], strict=True):
        pieces += splitter.feed(text[start:stop])
    pieces += splitter.flush()
    reasoning = "".join(piece.text for piece in pieces if isinstance(piece, Reasoning))
    return reasoning, "".join(piece for piece in pieces if isinstance(piece, str))


@pytest.mark.parametrize(("opening", "closing"), TAGS.items())
@given(cuts=st.lists(st.integers(0, 40), max_size=5))
def test_every_pair_of_tags_is_read_however_it_is_split(opening: str, closing: str, cuts: list[int]) -> None:
    text = f"\n{opening}\nhm < [ hm{closing}\n\nThe answer"
    assert split(text, *sorted(min(cut, len(text)) for cut in cuts)) == ("hm < [ hm", "The answer")


@pytest.mark.parametrize(
    "text",
    ["<thin ice>", "[THIN] ice", "Use <think> here", "a </think> b", "<", "[T", "`</think>` closes it"],
)
def test_what_is_no_tag_at_the_beginning_is_text(text: str) -> None:
    assert split(text) == ("", text)


@given(cuts=st.lists(st.integers(0, len(LONE)), max_size=5))
def test_of_a_model_that_omits_the_opening_tag_the_text_before_the_closing_one_is_reasoning(
    cuts: list[int],
) -> None:
    assert split(LONE, *sorted(cuts), untagged=True) == ("So the user asks.\n", "The answer")


def test_such_a_model_may_also_write_the_tag_or_not_think_at_all() -> None:
    assert split("<think>hm</think>The answer", untagged=True) == ("hm", "The answer")
    assert split("The answer", 3, untagged=True) == ("", "The answer")
    assert split("Close it with `</think>`.", untagged=True) == ("", "Close it with `</think>`.")


def test_text_is_held_back_no_longer_once_tags_are_expected() -> None:
    splitter = ThinkSplitter(is_untagged=True)
    assert list(splitter.feed("The ")) == []
    splitter.expect_tags()
    assert list(splitter.feed("answer ")) == ["The answer "]
    assert list(splitter.feed("streams.")) == ["streams."]


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<think>hm</think>\n\nAnswer", "Answer"),
        ("<think>hm", ""),
        ("<thought>hm</thought>Answer", "Answer"),
        (LONE, "The answer"),
        ("Answer", "Answer"),
        ("Mind the `</think>` tag", "Mind the `</think>` tag"),
    ],
)  # fmt: skip
def test_a_whole_text_is_stripped_of_its_reasoning(text: str, answer: str) -> None:
    assert without_reasoning(text) == answer


def test_a_model_that_omits_the_opening_tag_is_recognised() -> None:
    assert split_untagged(LONE) == ("So the user asks.\n", "The answer")
    assert split_untagged("\nhm\n```\n</think>\n```\n[/THINK]\nb") == ("hm\n```\n</think>\n```\n", "b")
    others = [
        "<think>a</think>b",
        "Use `</think>`",
        "Use <think> and </think>",
        "It ends:\n```\n</think>\n```",
        "b",
    ]
    assert not any(map(split_untagged, others))
