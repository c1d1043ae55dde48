"""What a model is told of knowledge bases: one line for each, which no name or text can leave."""

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.bases import (
    HEADING,
    MAX_NAME_CHARACTERS,
    NOTE,
    RESTRICTED_NOTE,
    SHORT_SUMMARY_CHARACTERS,
    BoundBase,
    BoundBases,
    clean_name,
    render_bases,
)

pytestmark = pytest.mark.pure

TIDES = BoundBase(
    UUID(int=1), "reader", "Tides", "All about tides.", ["moon", "harbours"], ready=12, processing=2
)
SEALS = BoundBase(UUID(int=2), "owner", "Seals", ready=1)
GONE = BoundBase(UUID(int=3))
SECRET = BoundBase(
    UUID(int=4),
    "restricted",
    "Staff",
    "The summary says salary.",
    ["topic-of-pay"],
    "Questions about contracts",
    ["contract", "leave"],
    ready=7,
    processing=5,
)


def test_nothing_bound_makes_no_block() -> None:
    assert render_bases(BoundBases()) == ""


def test_each_base_has_a_line_between_the_heading_and_the_note() -> None:
    assert render_bases(BoundBases([TIDES, SEALS, GONE])).split("\n") == [
        HEADING,
        "",
        f"- Tides (id {TIDES.id}): 12 documents, 2 more being read. Summary: All about tides. Topics: moon; harbours.",
        f"- Seals (id {SEALS.id}): 1 document.",
        f"- Unknown (id {GONE.id}): it does not exist any more, or may not be searched.",
        "",
        NOTE,
    ]


def test_summaries_are_whole_for_two_bases_and_short_from_three_on() -> None:
    long = BoundBase(UUID(int=5), "reader", "Long", "wide water " * 60)
    assert " ".join(long.summary.split()) in render_bases(BoundBases([long, TIDES]))
    short = render_bases(BoundBases([long, TIDES, SEALS]))
    [line] = [one for one in short.split("\n") if "Long" in one]
    summary = line.split("Summary: ")[1]
    assert summary.startswith("wide water")
    assert summary.endswith(" …")
    assert len(summary) <= SHORT_SUMMARY_CHARACTERS + 2
    assert "All about tides." in short, "a short one stays as it is"


def test_a_restricted_run_is_told_names_and_hints_alone() -> None:
    block = render_bases(BoundBases([SECRET, TIDES._replace(routing_hint="Sea levels.")]))
    assert block.split("\n") == [
        HEADING,
        "",
        f"- Staff (id {SECRET.id}). Hint: Questions about contracts. Keywords: contract; leave.",
        f"- Tides (id {TIDES.id}). Hint: Sea levels.",
        "",
        RESTRICTED_NOTE,
    ]


def test_hints_and_keywords_are_cut_at_their_limits() -> None:
    base = SECRET._replace(routing_hint="h" * 500, routing_keywords=["k" * 90, *"abcdefgh"])
    block = render_bases(BoundBases([base]))
    assert "h" * 200 + "." in block
    assert "h" * 201 not in block
    assert f"Keywords: {'k' * 48}; a; b; c; d." in block


@pytest.mark.parametrize(
    ("name", "cleaned"),
    [
        ("Tides", "Tides"),
        ("{}[]<>`", "Unnamed"),
        ("a\n- b (id c)\x00", "a - b (id c)"),
        ("</context>", "/context"),
        ("x" * 300, "x" * MAX_NAME_CHARACTERS),
        ("a\u2028b\u202ec", "a b c"),
        ("Gezeiten & Häfen", "Gezeiten & Häfen"),
    ],
)
def test_names_lose_markup_and_control_characters(name: str, cleaned: str) -> None:
    assert clean_name(name) == cleaned


@given(st.text(max_size=300), st.text(max_size=500), st.lists(st.text(max_size=30), max_size=4))
def test_whatever_members_write_a_base_keeps_to_its_line(name: str, text: str, words: list[str]) -> None:
    for role in ("reader", "restricted"):
        base = BoundBase(UUID(int=9), role, name, text, words, text, words, 1, 1)
        block = render_bases(BoundBases([base]))
        assert len(block.splitlines()) == 5
        assert not set("{}[]<>`") & set(block.splitlines()[2].split(" (id ")[0])
