"""Durations measured by the fault tests, for the table at the end of `make faults`. They never fail a test.

Tests may run in several processes: conftest.py transfers each test's figures in its report.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from tests.faults.history import percentile


class Figures(NamedTuple):
    """Durations of one test. row: of the fault table, such as "F1", or an attack, such as "A1". what: the name of the duration."""

    row: str
    what: str
    seconds: list[float]


_RECORDED: list[Figures] = []


def record(row: str, what: str, seconds: float | Iterable[float]) -> None:
    """Record durations; values with the same row and name become one line of the table."""
    values = [seconds] if isinstance(seconds, (int, float)) else list(seconds)
    _RECORDED.append(Figures(row, what, values))


def take() -> list[Figures]:
    """Return and clear what was recorded since the last call."""
    recorded = list(_RECORDED)
    _RECORDED.clear()
    return recorded


def lines(recorded: Iterable[Figures]) -> Iterator[str]:
    """The lines of the table, ordered by row."""
    seconds: dict[tuple[str, str], list[float]] = defaultdict(list)
    for row, what, values in recorded:
        seconds[row, what] += values
    if seconds:
        yield f"{'row':<5} {'measured':<52} {'count':>5} {'p50 s':>8} {'p99 s':>8} {'max s':>8}"
    for (row, what), values in sorted(seconds.items(), key=lambda item: (int(item[0][0][1:]), item[0][1])):
        if values:
            spread = " ".join(f"{percentile(values, percent):>8.3f}" for percent in (50, 99, 100))
            yield f"{row:<5} {what:<52} {len(values):>5} {spread}"
