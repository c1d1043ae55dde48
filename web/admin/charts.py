"""Numbers by day as drawings: stacked columns, and lines. Pure: numbers in, places out; the page draws them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import floor, log10
from typing import Final, NamedTuple

# In the drawing's own units; the page scales it.
WIDTH: Final = 720
HEIGHT: Final = 190
LEFT: Final = 52
BOTTOM: Final = 22
TOP: Final = 8
# Of colours; further series share the last one.
TONES: Final = 6
GRID: Final = 4
# A word under the axis needs this much.
WORD: Final = 70

# name -> day -> value
Series = Mapping[str, Mapping[date, float]]


class Column(NamedTuple):
    x: float
    y: float
    width: float
    height: float
    tone: int
    title: str


class Mark(NamedTuple):
    """A place on an axis, and what stands there."""

    at: float
    label: str


@dataclass
class Chart:
    """legend: (tone, name). lines: (tone, points of a polyline)."""

    title: str
    legend: list[tuple[int, str]] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    lines: list[tuple[int, str]] = field(default_factory=list)
    rows: list[Mark] = field(default_factory=list)
    days: list[Mark] = field(default_factory=list)
    width = WIDTH
    height = HEIGHT
    left = LEFT
    right = WIDTH - 4
    base = HEIGHT - BOTTOM


def columns(title: str, days: Sequence[date], series: Series, tones: Sequence[int] = ()) -> Chart:
    """One column a day, the series on top of each other in their order. tones: of each series, where they mean something."""
    tones = tones or _tones(series)
    chart = Chart(title, list(zip(tones, series, strict=True)))
    top = _nice(max((sum(values.get(day, 0) for values in series.values()) for day in days), default=0))
    step = _axes(chart, days, top)
    for place, day in enumerate(days):
        y = float(chart.base)
        for tone, (name, values) in zip(tones, series.items(), strict=True):
            value = values.get(day, 0)
            if value:
                height = value / top * (chart.base - TOP)
                y -= height
                x = LEFT + place * step + step * 0.15
                told = f"{day:%Y-%m-%d}, {name}: {_told(value)}"
                chart.columns.append(
                    Column(round(x, 1), round(y, 1), round(step * 0.7, 1), round(height, 1), tone, told)
                )
    return chart


def lines(title: str, days: Sequence[date], series: Series) -> Chart:
    """One line for each; days without a value are left out of it."""
    chart = Chart(title, list(zip(_tones(series), series, strict=True)))
    top = _nice(max((value for values in series.values() for value in values.values()), default=0))
    step = _axes(chart, days, top)
    for tone, values in zip(_tones(series), series.values(), strict=True):
        points = [
            f"{LEFT + (place + 0.5) * step:.1f},{chart.base - values[day] / top * (chart.base - TOP):.1f}"
            for place, day in enumerate(days)
            if day in values
        ]
        # A line of one point is not seen.
        chart.lines.append((tone, " ".join(points if len(points) != 1 else points * 2)))
    return chart


def _axes(chart: Chart, days: Sequence[date], top: float) -> float:
    """Draws them; how wide a day is."""
    for row in range(GRID + 1):
        value = top * row / GRID
        chart.rows.append(Mark(round(chart.base - (chart.base - TOP) * row / GRID, 1), _told(value)))
    step = (WIDTH - LEFT - 4) / max(len(days), 1)
    every = max(1, round(WORD / step))
    chart.days = [
        Mark(round(LEFT + (place + 0.5) * step, 1), f"{day:%m-%d}")
        for place, day in enumerate(days)
        if place % every == 0
    ]
    return step


def _tones(series: Series) -> list[int]:
    return [min(number, TONES) for number in range(1, len(series) + 1)]


def _nice(highest: float) -> float:
    """The next round number."""
    if highest <= 0:
        return 1
    power = 10 ** floor(log10(highest))
    return float(next(power * step for step in (1, 2, 4, 5, 8, 10) if power * step >= highest))


def _told(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.3g}"
