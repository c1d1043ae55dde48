"""Coordinates of charts of daily values: stacked columns and lines. Pure; the template draws the SVG."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from math import floor, log10
from typing import Final, NamedTuple

# In SVG user units; the page scales the drawing.
WIDTH: Final = 720
HEIGHT: Final = 190
LEFT: Final = 52
BOTTOM: Final = 22
TOP: Final = 8
# Number of colours; further series share the last one.
TONES: Final = 6
GRID: Final = 4
# Ratio of the axis to a column that has its value above it.
HEADROOM: Final = 1.15
# The width of a label under the axis.
LABEL_WIDTH: Final = 70

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
    """The label of a single value, since a lone column or point is hard to read off the axis. radius: 0 on a column."""

    x: float
    y: float
    radius: int
    tone: int
    label_x: float
    label_y: float
    anchor: str
    label: str


class AxisLabel(NamedTuple):
    """A position on an axis and its label."""

    at: float
    label: str


@dataclass
class Chart:
    """A chart to draw. legend: (tone, name). lines: (tone, points of a polyline)."""

    title: str
    legend: list[tuple[int, str]] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)
    lines: list[tuple[int, str]] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    rows: list[AxisLabel] = field(default_factory=list)
    days: list[AxisLabel] = field(default_factory=list)
    width = WIDTH
    height = HEIGHT
    left = LEFT
    right = WIDTH - 4
    base = HEIGHT - BOTTOM


def draw_columns(title: str, days: Sequence[date], series: Series, tones: Sequence[int] = ()) -> Chart:
    """Draw one column per day with the series stacked in their order. tones: the colour of each series, if it matters."""
    tones = tones or _assign_tones(series)
    chart = Chart(title, list(zip(tones, series, strict=True)))
    sums = {day: sum(values.get(day, 0) for values in series.values()) for day in days}
    alone = [day for day in days if sums[day]]
    is_alone = len(alone) == 1
    top = _round_up(max(sums.values(), default=0) * (HEADROOM if is_alone else 1))
    step = _add_axes(chart, days, top)
    for place, day in enumerate(days):
        y = float(chart.base)
        for tone, (name, values) in zip(tones, series.items(), strict=True):
            value = values.get(day, 0)
            if value:
                height = value / top * (chart.base - TOP)
                y -= height
                x = LEFT + place * step + step * 0.15
                label = f"{day:%Y-%m-%d}, {name}: {_format_number(value)}"
                chart.columns.append(
                    Column(round(x, 1), round(y, 1), round(step * 0.7, 1), round(height, 1), tone, label)
                )
    if is_alone:
        x, y = LEFT + (days.index(alone[0]) + 0.5) * step, min(one.y for one in chart.columns)
        chart.marks.append(Mark(x, y, 0, 0, x, y - 4, "middle", _format_number(sums[alone[0]])))
    return chart


def draw_lines(title: str, days: Sequence[date], series: Series) -> Chart:
    """Draw one line per series; days without a value are skipped."""
    chart = Chart(title, list(zip(_assign_tones(series), series, strict=True)))
    highest = max((value for values in series.values() for value in values.values()), default=0)
    is_alone = any(len(values) == 1 for values in series.values())
    top = _round_up(highest * (HEADROOM if is_alone else 1))
    step = _add_axes(chart, days, top)
    for tone, (name, values) in zip(_assign_tones(series), series.items(), strict=True):
        points = [
            (LEFT + (place + 0.5) * step, chart.base - values[day] / top * (chart.base - TOP))
            for place, day in enumerate(days)
            if day in values
        ]
        if len(points) == 1:
            [value] = [values[day] for day in days if day in values]
            label = f"{name} {_format_number(value)}"
            chart.marks.append(_mark_point(*points[0], tone, label))
        chart.lines.append((tone, " ".join(f"{x:.1f},{y:.1f}" for x, y in points)))
    return chart


def _mark_point(x: float, y: float, tone: int, label: str) -> Mark:
    """Return the mark of a point. Its label is beside it, towards the middle.
    The label of the first series is below the point, the labels of the others are above.
    """
    side, anchor = (-8, "end") if x > WIDTH / 2 else (8, "start")
    label_y = min(y + 12, HEIGHT - BOTTOM - 2) if tone == 1 else max(y - 4, 11)
    return Mark(x, y, 4, tone, x + side, label_y, anchor, label)


def _add_axes(chart: Chart, days: Sequence[date], top: float) -> float:
    """Add the axes to the chart; return the width of a day."""
    for row in range(GRID + 1):
        value = top * row / GRID
        chart.rows.append(
            AxisLabel(round(chart.base - (chart.base - TOP) * row / GRID, 1), _format_number(value))
        )
    step = (WIDTH - LEFT - 4) / max(len(days), 1)
    every = max(1, round(LABEL_WIDTH / step))
    chart.days = [
        AxisLabel(round(LEFT + (place + 0.5) * step, 1), f"{day:%m-%d}")
        for place, day in enumerate(days)
        if place % every == 0
    ]
    return step


def _assign_tones(series: Series) -> list[int]:
    return [min(number, TONES) for number in range(1, len(series) + 1)]


def _round_up(highest: float) -> float:
    """Return the next round number, for the top of the axis."""
    if highest <= 0:
        return 1
    power = 10 ** floor(log10(highest))
    return float(next(power * step for step in (1, 2, 4, 5, 8, 10) if power * step >= highest))


def _format_number(value: float) -> str:
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.3g}"
