"""Which tests CI runs a second time."""

import pytest

from tests import reruns
from tests.faults.history import GuaranteeViolated

pytestmark = pytest.mark.pure


@pytest.fixture
def items(request: pytest.FixtureRequest) -> list[pytest.Item]:
    """Two tests, of which the second is one of real processes."""
    made = [
        pytest.Function.from_parent(request.node.parent, name=name, callobj=lambda: None)
        for name in ("pure", "real")
    ]
    made[1].add_marker(pytest.mark.fault)
    return list(made)


def second_runs(items: list[pytest.Item]) -> list[int]:
    marks = [item.get_closest_marker("flaky") for item in items]
    return [mark.kwargs["reruns"] if mark else 0 for mark in marks]


def test_only_tests_of_real_processes_run_again_and_only_in_ci(items, monkeypatch):
    monkeypatch.delenv("CI", raising=False)
    reruns.mark(items)
    assert second_runs(items) == [0, 0]
    monkeypatch.setenv("CI", "true")
    reruns.mark(items)
    assert second_runs(items) == [0, 1]


def test_a_violated_guarantee_is_never_excused(items, monkeypatch):
    monkeypatch.setenv("CI", "true")
    reruns.mark(items)
    mark = items[1].get_closest_marker("flaky")
    assert mark is not None
    assert mark.kwargs["rerun_except"] == [GuaranteeViolated.__name__]
