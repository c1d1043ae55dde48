"""Which summary a run uses: one that its own window needs, and the same one from turn to turn."""

from collections.abc import Sequence
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from llm_worker.request.summary_choice import BranchSummary, MessageSize, choose_summary
from tests.examples import examples

pytestmark = pytest.mark.pure

TURN_TOKENS = 100
# (number of the turn whose question is the parent, turns covered, tokens, history window it was made for)
Written = tuple[int, int, int, int]


def chosen(turns: int, written: Sequence[Written], window: int, turn_tokens: int = TURN_TOKENS) -> int | None:
    """The index in `written` of the summary that is used for the last of `turns` questions."""
    leaf_depth = 2 * (turns - 1)
    sizes = [
        MessageSize(leaf_depth - place, place % 2 == 0, turn_tokens // 2) for place in range(leaf_depth + 1)
    ]
    summaries = [
        BranchSummary(
            UUID(int=index),
            UUID(int=1000 + index),
            parent_depth=leaf_depth - 2 * (parent - 1),
            cutoff_depth=leaf_depth - 2 * covered + 1,
            tokens=tokens,
            made_for=made_for,
        )
        for index, (parent, covered, tokens, made_for) in enumerate(written)
        if parent <= turns
    ]
    found = choose_summary(summaries, window, lambda: sizes)
    return found.id.int if found else None


SMALL = [(10, 8, 50, 1000), (16, 14, 50, 1000)]


@pytest.mark.parametrize(
    ("turns", "written", "window", "used"),
    [
        pytest.param(20, [], 500, None, id="there is none"),
        pytest.param(20, SMALL, 1000, 1, id="the newest made for this window"),
        pytest.param(12, SMALL, 1000, 0, id="the only one so far"),
        pytest.param(20, SMALL, 800, 1, id="and for a smaller one"),
        pytest.param(20, SMALL, 1200, 1, id="windows of one model differ a little"),
        pytest.param(20, SMALL, 100_000, None, id="a large window does not need it"),
        pytest.param(20, SMALL, 2000, None, id="nor does one that the branch just fits into"),
        pytest.param(25, SMALL, 2000, 1, id="but one that it does not fit into"),
        pytest.param(20, [(18, 10, 50, 50_000)], 900, 0, id="one made for more room, if there is no other"),
        pytest.param(20, [*SMALL, (18, 3, 50, 50_000)], 1000, 1, id="which does not displace a shorter one"),
        pytest.param(20, [*SMALL, (18, 3, 50, 50_000)], 50_000, 2, id="where it fits, it does"),
        pytest.param(60, [*SMALL, (40, 30, 50, 5000)], 6000, 2, id="its own, not that of a small window"),
        pytest.param(20, [(10, 8, 50, 0)], 5000, None, id="one of unknown origin is not needed either"),
        pytest.param(20, [(10, 8, 50, 0)], 1000, 0, id="or is"),
        pytest.param(10, [(10, 8, 50, 1000)], 1000, 0, id="another answer to its parent uses it"),
        pytest.param(9, [(10, 8, 50, 1000)], 1000, None, id="a branch without its parent does not"),
    ],
)
def test_a_run_uses_the_summary_that_its_window_needs(turns, written, window, used) -> None:
    assert chosen(turns, written, window) == used


def test_sizes_are_not_loaded_while_every_summary_was_made_for_this_window() -> None:
    def load() -> list[MessageSize]:
        raise AssertionError("they are not needed")

    summaries = [BranchSummary(UUID(int=1), UUID(int=2), 10, 15, 50, 1000)]
    assert choose_summary(summaries, 1000, load) == summaries[0]


def grown(windows: Sequence[int], turns: int) -> list[Written]:
    """Summaries of a branch that models with these windows answer side by side, each compressing at three quarters."""
    written: list[Written] = []
    for turn in range(1, turns + 1):
        for window in windows:
            used = chosen(turn, written, window)
            covered = 0 if used is None else written[used][1]
            held = (turn - covered) * TURN_TOKENS + (0 if used is None else written[used][2])
            keep = max(1, int(0.2 * held / TURN_TOKENS))
            if held > 0.75 * window and turn - keep > covered:
                written.append((turn, turn - keep, max(20, window // 8), window))
    return written


@pytest.mark.slow
@given(st.lists(st.integers(600, 60_000), min_size=1, max_size=3), st.integers(600, 120_000))
@settings(max_examples=examples(30))
def test_the_choice_changes_only_when_the_window_is_full_or_its_own_summary_is_written(
    windows, window
) -> None:
    turns = 80
    written = grown([*windows, window], turns)
    before: int | None = None
    changes = 0
    for turn in range(1, turns + 1):
        used = chosen(turn, written, window)
        covered, tokens = (written[used][1], written[used][2]) if used is not None else (0, 0)
        assert tokens + (turn - covered) * TURN_TOKENS <= window or turn - covered <= 2, "it fits"
        changes += used != before
        before = used
    comparable = [made for *_, made in written if made >= 0.75 * window]
    assert changes <= len(comparable) + 1


@pytest.mark.slow
@given(st.lists(st.integers(600, 10_000), min_size=1, max_size=3))
@settings(max_examples=examples(30))
def test_a_window_that_holds_the_whole_branch_is_never_given_a_summary_of_a_smaller_one(windows) -> None:
    written = grown(windows, 100)
    assert {chosen(turn, written, 20_000) for turn in range(1, 101)} == {None}
