"""Coordinates of a timeline: lanes of bars on a time axis. Pure; the template draws the SVG."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

# In SVG user units; the page scales the drawing.
WIDTH: Final = 900
LABELS: Final = 90
# Space on the right, for the label of the last tick.
MARGIN: Final = 26
LANE: Final = 22
AXIS: Final = 20
# The minimum width of a bar.
THINNEST: Final = 2.0
TICKS: Final = 5
CHARACTER: Final = 7


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a lane. name: drawn on the bar if it fits. title: the tooltip."""

    x: float
    width: float
    title: str
    name: str = ""

    @property
    def label(self) -> str:
        return self.name if self.width > CHARACTER * len(self.name) else ""


@dataclass
class Lane:
    """A row of bars. kind: the CSS class of its bars; if empty, each bar's name is its class."""

    name: str
    y: int
    kind: str
    bars: list[Bar] = field(default_factory=list)

    @property
    def text_y(self) -> int:
        return self.y + 13


class Timeline:
    """The lanes between `since` and `until`, from top to bottom."""

    width = WIDTH
    labels = LABELS

    def __init__(self, since: datetime, until: datetime) -> None:
        self._since = since
        self.span_s = max((until - since).total_seconds(), 0.001)
        self.lanes: list[Lane] = []

    @property
    def height(self) -> int:
        return len(self.lanes) * LANE + AXIS

    @property
    def bottom(self) -> int:
        return len(self.lanes) * LANE

    @property
    def ticks(self) -> Sequence[tuple[float, str]]:
        """The ticks of the axis: x and label."""
        steps = range(TICKS + 1)
        return [
            (self._x(self.span_s * one / TICKS), _seconds(self.span_s * one / TICKS, self.span_s))
            for one in steps
        ]

    def add_lane(self, name: str, kind: str = "") -> Lane:
        lane = Lane(name, len(self.lanes) * LANE + 2, kind)
        self.lanes.append(lane)
        return lane

    def add_bar(self, lane: Lane, since: datetime, until: datetime, title: str, name: str = "") -> None:
        x = self._x(self._after(since))
        lane.bars.append(Bar(x, round(max(self._x(self._after(until)) - x, THINNEST), 1), title, name))

    def add_moments(self, lane: Lane, times: Iterable[datetime], noun: str) -> None:
        """Add a bar for every group of times that have the same x."""
        counts = Counter(round(self._x(self._after(at)) / THINNEST) for at in times)
        for place, number in sorted(counts.items()):
            lane.bars.append(Bar(place * THINNEST, THINNEST, f"{number} {noun}"))

    def _after(self, at: datetime) -> float:
        return min(max((at - self._since).total_seconds(), 0.0), self.span_s)

    def _x(self, after_s: float) -> float:
        return round(LABELS + after_s / self.span_s * (WIDTH - LABELS - MARGIN), 1)


def _seconds(after_s: float, span_s: float) -> str:
    return f"{after_s:.2f} s" if span_s < 10 else f"{after_s:.0f} s"
