"""The processes that fault tests break, and the table of what was measured meanwhile."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from tests.faults import measured
from tests.faults.arena import Arena
from tests.faults.scene import Scene


@pytest.fixture(scope="session")
def shared_arena() -> Iterator[Arena]:
    """For tests that leave Postgres and Valkey alone."""
    with Arena.running() as arena:
        yield arena


@pytest.fixture
def without_workers() -> None:
    """For tests that start workers of their own: a start takes seconds."""


@pytest.fixture
def arena(request: pytest.FixtureRequest, shared_arena: Arena) -> Arena:
    """With the usual cast; modules that break the services have one of their own."""
    if "without_workers" in request.fixturenames:
        shared_arena.set_stage([])
    else:
        shared_arena.set_stage()
    return shared_arena


@pytest.fixture
async def scene(arena: Arena) -> AsyncIterator[Scene]:
    async with Scene.of(arena) as scene:
        yield scene
    # Shown when the test fails.
    print(arena.logs())


@pytest.fixture(autouse=True)
def measured_figures(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Put what the test measures into its report, which reaches the terminal from any process."""
    yield
    for figures in measured.take():
        record_property("measured", tuple(figures))  # xdist sends plain tuples only


def pytest_terminal_summary(terminalreporter: Any) -> None:
    # Reports of a teardown have no category, and are the first that hold what measured_figures adds.
    reports = [report for report in terminalreporter.getreports("") if report.when == "teardown"]
    properties = [entry for report in reports for entry in report.user_properties]
    lines = list(measured.lines(measured.Figures(*value) for name, value in properties if name == "measured"))
    if lines:
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.write_line(line)
