"""In CI, a test with real processes or a browser that fails is run once more. The summary shows the first failure.

Such a test depends on two dozen processes on a machine that others may use. What it finds out about the promises is never
excused: a violated guarantee fails at once. Without the environment variable CI nothing is run again.
"""

import os
from typing import Any, Final

import pytest

REAL: Final = ("fault", "e2e", "browser")
# Of tests/faults/history.py, named and not imported: every run of any test would read it, and what it imports.
NOT_EXCUSED: Final = "GuaranteeViolated"


def mark(items: list[pytest.Item]) -> None:
    """Mark the tests that get a second run."""
    if not os.environ.get("CI"):
        return
    for item in items:
        if any(item.get_closest_marker(name) for name in REAL):
            item.add_marker(pytest.mark.flaky(reruns=1, rerun_except=[NOT_EXCUSED]))


def summarize(terminalreporter: Any) -> None:
    """Print the first failure of each test that was run again, and how the second run ended."""
    failed = {report.nodeid for report in terminalreporter.getreports("failed")}
    for report in terminalreporter.getreports("rerun"):
        outcome = "failed twice" if report.nodeid in failed else "failed by chance: passed when run again"
        terminalreporter.section(f"{outcome}: {report.nodeid}")
        terminalreporter.write_line(report.longreprtext)
