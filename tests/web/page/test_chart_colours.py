"""The colours of charts differ, also for who sees no red or no green."""

import re
from itertools import combinations

import pytest

from tests.instance import ROOT
from tests.web.page.chart_colours import SIGHTS, ciede2000, difference

pytestmark = pytest.mark.pure

SCRIPT = (ROOT / "web/static/preview/diagram.js").read_text(encoding="utf-8")
PALETTE = re.findall(r"#\w{6}", re.search(r'PALETTE = "(.*?)"', SCRIPT)[1])  # type: ignore[index]
GROUNDS = ("#ffffff", "#1b1c1e")


# Pairs of the data that G. Sharma et al. publish with the formula.
@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ((50.0, 2.6772, -79.7751), (50.0, 0.0, -82.7485), 2.0425),
        ((50.0, 2.5, 0.0), (73.0, 25.0, -18.0), 27.1492),
        ((60.2574, -34.0099, 36.2677), (60.4626, -34.1751, 39.4387), 1.2644),
        ((2.0776, 0.0795, -1.135), (0.9033, -0.0636, -0.5514), 0.9082),
    ],
)
def test_the_difference_is_the_published_one(one, other, expected) -> None:
    assert ciede2000(one, other) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("sight", SIGHTS)
def test_ten_colours_of_charts_differ_at_a_glance_and_from_both_grounds(sight: str) -> None:
    assert len(PALETTE) == len(set(PALETTE)) == 10
    assert min(difference(*pair, sight) for pair in combinations(PALETTE, 2)) > 10
    assert min(difference(ground, colour, sight) for ground in GROUNDS for colour in PALETTE) > 10
