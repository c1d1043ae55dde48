"""Fixtures of the fault tests: the cluster, the scenario, and the table of measured durations."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.faults import measurements

if TYPE_CHECKING:
    from tests.faults.cluster import Cluster
    from tests.faults.scenario import Scenario


@pytest.fixture(scope="session")
def shared_cluster() -> Iterator["Cluster"]:
    """The cluster of tests that do not break Postgres or Valkey."""
    from tests.faults.cluster import Cluster  # not of the pure tests, which compare histories
    from tests.stack import constants

    # An answer for a reader that does not read is longer than answers may be by default.
    with Cluster.running(**constants(MAX_RUN_CHARACTERS=10_000_000)) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def own_cluster() -> Iterator["Cluster"]:
    """A cluster of the module alone, whose tests break its services or change what restore() does not mend."""
    from tests.faults.cluster import Cluster

    with Cluster.running() as cluster:
        yield cluster


@pytest.fixture(scope="module")
def durable_cluster() -> Iterator["Cluster"]:
    """As own_cluster; its Valkey keeps its data over a crash."""
    from tests.faults.cluster import Cluster

    with Cluster.running(durable_valkey=True) as cluster:
        yield cluster


@pytest.fixture
def without_workers() -> None:
    """Starts the cluster without workers, for tests that start their own."""


@pytest.fixture
def cluster(request: pytest.FixtureRequest, shared_cluster: "Cluster") -> "Cluster":
    """The shared cluster with its default processes. Modules that break the services override this fixture."""
    if "without_workers" in request.fixturenames:
        shared_cluster.restore([])
    else:
        shared_cluster.restore()
    return shared_cluster


@pytest.fixture
async def scenario(cluster: "Cluster") -> AsyncIterator["Scenario"]:
    from tests.faults.scenario import Scenario

    async with Scenario.of(cluster) as scenario:
        yield scenario
    # Shown when the test fails.
    print(cluster.logs())


@pytest.fixture(autouse=True)
def measured_figures(record_property: Callable[[str, object], None]) -> Iterator[None]:
    """Attach the test's measurements to its report, which xdist sends to the main process."""
    yield
    for figures in measurements.take():
        record_property("measured", tuple(figures))  # xdist sends plain tuples only


def pytest_terminal_summary(terminalreporter: Any) -> None:
    # Teardown reports have no category, and are the first to contain what measured_figures adds.
    reports = [report for report in terminalreporter.getreports("") if report.when == "teardown"]
    properties = [entry for report in reports for entry in report.user_properties]
    lines = list(
        measurements.lines(measurements.Figures(*value) for name, value in properties if name == "measured")
    )
    if lines:
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.write_line(line)
