"""The factor between reported and estimated tokens."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chat.transcript.tokens import (
    BOUNDS,
    SETTLED_SAMPLES,
    START,
    Measured,
    TokenFactor,
    is_worth_a_write,
    moved,
    ratio_of,
)

pytestmark = pytest.mark.pure


@pytest.mark.parametrize(
    ("estimated", "reported", "current", "ratio"),
    [
        pytest.param(1000, 1300, START, 1.3, id="a plausible count"),
        pytest.param(499, 700, START, None, id="a short request"),
        pytest.param(1000, None, START, None, id="no count"),
        pytest.param(1000, 0, START, None, id="zero"),
        pytest.param(1000, 120, START, None, id="without what was cached"),
        pytest.param(1000, 9000, START, None, id="far too many"),
        pytest.param(1000, 2000, TokenFactor(1.1, SETTLED_SAMPLES - 1), 2.0, id="not settled yet"),
        pytest.param(1000, 2000, TokenFactor(1.1, SETTLED_SAMPLES), None, id="far from a settled factor"),
        pytest.param(1000, 1400, TokenFactor(1.1, SETTLED_SAMPLES), 1.4, id="near a settled factor"),
    ],
)
def test_requests_that_say_nothing_are_ignored(estimated, reported, current, ratio):
    assert ratio_of(estimated, reported, current) == ratio


def test_the_first_samples_are_a_mean_and_later_ones_an_average_that_moves():
    assert moved(START, Measured(1.3, 1)) == (1.3, 1)
    assert moved(TokenFactor(1.3, 1), Measured(1.1, 1)) == (pytest.approx(1.2), 2)
    assert moved(TokenFactor(1.0, 1000), Measured(2.0, 1)) == (pytest.approx(1.05), 1001)
    assert moved(START, Measured(3.9, 5)).factor == BOUNDS[1]
    assert moved(START, Measured(0.5, 5)).factor == BOUNDS[0]


def run(ratios):
    """The factor after these requests, and how often it was written."""
    current, waiting, writes = START, Measured(0.0, 0), 0
    for each in ratios:
        ratio = ratio_of(1000, round(1000 * each), current)
        if ratio is None:
            continue
        total = waiting.samples + 1
        waiting = Measured((waiting.mean * waiting.samples + ratio) / total, total)
        if is_worth_a_write(waiting, current):
            current, waiting, writes = moved(current, waiting), Measured(0.0, 0), writes + 1
    return current.factor, writes


noise = st.lists(st.floats(0.97, 1.03), min_size=64, max_size=200)


@given(st.floats(0.75, 2.8), noise)
def test_the_factor_finds_the_truth_with_few_writes(truth, noises):
    factor, writes = run([truth * each for each in noises])
    assert factor == pytest.approx(truth, rel=0.04)
    assert writes <= 12


@given(st.floats(0.9, 2.3), st.floats(0.8, 1.25), noise)
def test_the_factor_follows_a_server_that_changes_its_model(truth, change, noises):
    later = [truth * change * each for each in noises * 2]
    assert run([*[truth * each for each in noises], *later])[0] == pytest.approx(truth * change, rel=0.06)
