"""Where a run waits follows from what its calls asked, and in which order."""

from itertools import count
from uuid import UUID

import pytest

from chat.transcript.waits import Asked, Beside, find_waits

pytestmark = pytest.mark.pure
Place = tuple[int, int, str]


def waits_of(
    asked: list[Place], beside: list[tuple[int, int, bool]]
) -> list[tuple[int, list[int], bool, bool]]:
    """Each wait: its round, the tabs that ask, whether it is for approvals alone, and whether it has begun."""
    numbers = count()
    rows = [Asked(UUID(int=next(numbers)), round_, tab, "act", {}, kind) for round_, tab, kind in asked]
    waits = find_waits(rows, [Beside(*row) for row in beside])
    return [(wait.round, list(wait.asked), wait.is_for_approvals, wait.is_reached) for wait in waits]


@pytest.mark.parametrize(
    ("asked", "beside", "expected"),
    [
        ([], [], []),
        ([(0, 0, "approval")], [(0, 0, False)], [(0, [0], True, True)]),
        ([(2, 1, "approval")], [(2, 0, False), (2, 1, False)], [(2, [1], True, False)]),
        ([(2, 1, "approval")], [(2, 0, True), (2, 1, False)], [(2, [1], True, True)]),
        # Calls of one round wait together, those of the next one later.
        (
            [(0, 2, "approval"), (0, 0, "sign_in"), (1, 0, "approval")],
            [],
            [(0, [0, 2], False, True), (1, [0], True, True)],
        ),
        # A call asks again when the run has waited for it.
        (
            [(0, 0, "approval"), (0, 1, "approval"), (0, 1, "question"), (0, 0, "sign_in")],
            [],
            [(0, [0, 1], True, True), (0, [0, 1], False, True)],
        ),
    ],
)
def test_a_run_waits_for_what_its_calls_ask_together(
    asked: list[Place], beside: list, expected: list
) -> None:
    assert waits_of(asked, beside) == expected
