"""The processes that fault tests break, and the table of what was measured meanwhile."""

from collections.abc import AsyncIterator, Iterator
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


def pytest_terminal_summary(terminalreporter: Any) -> None:
    lines = list(measured.lines())
    if lines:
        terminalreporter.section("measured")
        for line in lines:
            terminalreporter.write_line(line)
