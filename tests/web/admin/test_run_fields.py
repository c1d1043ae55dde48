"""The columns of a run are grouped under headings in words; what is rarely needed is folded."""

from typing import Any

import pytest

from chat.models import Run
from web.admin.runs import GROUPS, TITLES, folded_groups, group_fields

pytestmark = pytest.mark.pure


def test_every_column_stands_in_one_group_with_a_heading() -> None:
    shown = sorted(name for names in GROUPS.values() for name in names)
    computed = {"waited_s", "worked_s", "silent_s"}
    assert shown == sorted({field.name for field in Run._meta.fields} | computed)
    assert all(title for title, _options in group_fields(None))
    assert set(TITLES) == set(GROUPS)


@pytest.mark.parametrize(
    ("columns", "opened"),
    [
        pytest.param({"status": "completed", "attempt": 1}, set(), id="completed at once"),
        pytest.param({"status": "failed", "error_code": "timeout", "attempt": 1}, {"failure"}, id="failed"),
        pytest.param({"status": "running", "attempt": 1}, {"recovery"}, id="held by a worker"),
        pytest.param({"status": "completed", "attempt": 2}, {"recovery"}, id="taken over"),
    ],
)
def test_failure_and_recovery_are_open_when_they_tell_something(
    columns: dict[str, Any], opened: set[str]
) -> None:
    run = Run(**columns)
    assert folded_groups(run) == {"failure", "recovery", "request", "internals"} - opened
    folded = [title for title, options in group_fields(run) if options["classes"]]
    assert len(folded) == 4 - len(opened)
