"""The processes that fault tests break, and the table of what was measured meanwhile."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest

from tests.faults import measurements
from tests.faults.cluster import Cluster
from tests.faults.scenario import Scenario


@pytest.fixture(scope="session")
def shared_cluster() -> Iterator[Cluster]:
    """For tests that leave Postgres and Valkey alone."""
    with Cluster.running() as cluster:
        yield cluster


@pytest.fixture
def without_workers() -> None:
    """For tests that start workers of their own: a start takes seconds."""


@pytest.fixture
def cluster(request: pytest.FixtureRequest, shared_cluster: Cluster) -> Cluster:
    """With the usual cast; modules that break the services have one of their own."""
    if "without_workers" in request.fixturenames:
        shared_cluster.restore([])
    else:
        shared_cluster.restore()
    return shared_cluster


@pytest.fixture
async def scenario(cluster: Cluster) -> AsyncIterator[Scenario]:
    async with Scenario.of(cluster) as scenario:
        yield scenario
    # Shown when the test fails.
    print(cluster.logs())


@pytest.fixture(autouse=True)
def measured_figures(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Put what the test measures into its report, which reaches the terminal from any process."""
    yield
    for figures in measurements.take():
        record_property("measured", tuple(figures))  # xdist sends plain tuples only


def pytest_terminal_summary(terminalreporter: Any) -> None:
    # Reports of a teardown have no category, and are the first that hold what measured_figures adds.
    reports = [report for report in terminalreporter.getreports("") if report.when == "teardown"]
    properties = [entry for report in reports for entry in report.user_properties]
    lines = list(
        measurements.lines(measurements.Figures(*value) for name, value in properties if name == "measured")
    )
    if lines:
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.write_line(line)
