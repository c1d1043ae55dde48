"""Were the promises kept? Judged offline, from what clients saw, what the upstream was asked and what is stored.

Checks I1-I6 and the tree's part of I9; slowness is a figure here and never a violation, since machines differ.
Pure; recorded.py has the values and loads the rows. In a test:

    history = History([ClientLog("tab", [SocketLog(socket.frames)])], load(url), upstream.requests)
    check(history).raise_if_violated()
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

from tests.faults.history_data import ClientLog, Database, History, SocketLog, Violation, load
from tests.faults.history_figures import figures
from tests.faults.history_rules import broken_by_rows, broken_by_texts, broken_by_upstream
from tests.faults.history_views import replay

__all__ = [
    "ClientLog",
    "Database",
    "History",
    "Report",
    "SocketLog",
    "Violation",
    "check",
    "load",
    "percentile",
]


class GuaranteeViolated(AssertionError):
    """The observed history breaks a guarantee. Such a test is never run again in CI: see tests/reruns.py."""


@dataclass
class Report:
    """figures: counts, and seconds as lists of every measured value, by name."""

    violations: list[Violation]
    figures: dict[str, Any]

    def __str__(self) -> str:
        shown = [f"{name}: {_short(value)}" for name, value in self.figures.items()]
        broken = [str(violation) for violation in self.violations[:20]]
        return "\n".join([f"{len(self.violations)} violations", *broken, *shown])

    def raise_if_violated(self, details: str = "") -> None:
        """details: what is printed with the violations."""
        if self.violations:
            raise GuaranteeViolated(f"{self}\n{details}")


def check(history: History) -> Report:
    """Everything that was broken, and the figures."""
    replays = [replay(client) for client in history.clients]
    violations = [violation for seen in replays for violation in seen.violations]
    violations += broken_by_rows(history)
    violations += broken_by_texts(history, replays)
    violations += broken_by_upstream(history)
    return Report(violations, figures(history, replays, violations))


def percentile(values: Sequence[float], percent: float) -> float:
    """Nearest rank. values: at least one."""
    return sorted(values)[max(0, ceil(len(values) * percent / 100) - 1)]


def _short(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    if not value:
        return "none"
    spread = (percentile(value, percent) for percent in (50, 99, 100))
    return f"{len(value)}, s: " + " ".join(
        f"{name} {seconds:.3f}" for name, seconds in zip(("p50", "p99", "max"), spread, strict=True)
    )
