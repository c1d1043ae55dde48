"""What the fault tests measured, for the table that `make faults` ends with. Figures, never verdicts."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from tests.faults.history import percentile

_SECONDS: dict[tuple[str, str], list[float]] = defaultdict(list)


def record(row: str, what: str, seconds: float | Iterable[float]) -> None:
    """row: of the fault table, "F1". Several values of one row and name become one line."""
    _SECONDS[row, what] += [seconds] if isinstance(seconds, (int, float)) else list(seconds)


def lines() -> Iterator[str]:
    """The table, in the order of the rows."""
    if _SECONDS:
        yield f"{'row':<5} {'measured':<52} {'count':>5} {'p50 s':>8} {'p99 s':>8} {'max s':>8}"
    for (row, what), values in sorted(_SECONDS.items(), key=lambda item: (int(item[0][0][1:]), item[0][1])):
        if values:
            spread = " ".join(f"{percentile(values, percent):>8.3f}" for percent in (50, 99, 100))
            yield f"{row:<5} {what:<52} {len(values):>5} {spread}"
