"""Which tests every change runs, which files need no import, and how long a test may take."""

from collections.abc import Callable
from pathlib import Path
from unittest import mock

import pytest
from hypothesis import given

from tests import parts, remaining, suites

pytestmark = pytest.mark.pure

EVERY_CHANGE = "(not browser or core) and not fault and not full and not documents"
MODULE = """import pytest

pytestmark = [pytest.mark.browser, pytest.mark.timeout(9)]


{decorator}
def test_it() -> None: ...
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    return tmp_path / "test_module.py"


@pytest.mark.parametrize(
    ("decorator", "is_run"),
    [
        ("", False),
        ("@pytest.mark.core", True),
        ("@pytest.mark.parametrize('x', [pytest.param(1, marks=pytest.mark.core), 2])", True),
        ("@pytest.mark.full", False),
    ],
)
def test_of_browser_tests_every_change_runs_those_marked_core(
    module: Path, decorator: str, is_run: bool
) -> None:
    module.write_text(MODULE.format(decorator=decorator), encoding="utf-8")
    assert suites.runs_with_every_change(module, "test_it") is is_run
    assert suites.is_ignored(module, EVERY_CHANGE) is not is_run


def test_a_file_is_imported_if_any_of_its_tests_may_match(tmp_path: Path) -> None:
    marked, plain = tmp_path / "test_marked.py", tmp_path / "test_plain.py"
    marked.write_text("@pytest.mark.full\ndef test_it() -> None: ...", encoding="utf-8")
    plain.write_text("def test_it() -> None: ...", encoding="utf-8")
    assert not suites.is_ignored(marked, EVERY_CHANGE)
    assert not suites.is_ignored(marked, suites.REMAINING)
    assert not suites.is_ignored(plain, EVERY_CHANGE)
    assert suites.is_ignored(plain, suites.REMAINING)
    assert not suites.is_ignored(plain, "")
    assert not suites.is_ignored(tmp_path, suites.REMAINING)
    marked.unlink()
    assert suites.is_ignored(tmp_path, suites.REMAINING), "with its conftest"


def test_every_test_has_a_limit_of_its_kind_or_its_own(request: pytest.FixtureRequest) -> None:
    def limited(*marks: pytest.MarkDecorator, test: Callable[..., None] = lambda: None) -> float:
        item = pytest.Function.from_parent(request.node.parent.parent, name="it", callobj=test)
        for mark in marks:
            item.add_marker(mark)
        suites.set_time_limits([item])
        marker = item.get_closest_marker("timeout")
        assert marker is not None
        return float(marker.args[0])

    assert limited() == suites.LIMIT_WITH_A_DATABASE
    assert limited(pytest.mark.pure) == suites.LIMITS["pure"]
    assert limited(pytest.mark.pure, test=given()(lambda: None)) == suites.LIMIT_OF_A_PROPERTY
    assert limited(pytest.mark.e2e) == suites.LIMITS["e2e"]
    assert limited(pytest.mark.fault, pytest.mark.timeout(300)) == 300
    assert limited(pytest.mark.browser) == suites.LIMITS["browser"] + suites.GRACE_S


@pytest.mark.slow
def test_the_commit_decides_the_order_of_the_files_that_remain() -> None:
    first, again, other = (remaining.files_in_order(seed) for seed in ("a", "a", "b"))
    assert first == again
    assert first != other
    assert sorted(first) == sorted(other)
    assert "tests/faults/test_rolling.py" in first
    assert "tests/browser/test_accessible.py" in first
    assert "tests/chat/log/test_cursor.py" not in first
    assert "tests/matrix/test_rest.py 4/4" in first


def test_what_the_time_does_not_suffice_for_is_left_and_has_not_failed() -> None:
    assert remaining.run(["tests/test_suites.py"], budget_s=0) == ([], ["tests/test_suites.py"])


def test_a_file_that_measures_times_runs_alone() -> None:
    measuring, other = "tests/matrix/test_side_by_side.py 2/5", "tests/faults/test_files.py 1/2"
    assert remaining.may_start(measuring, [])
    assert not remaining.may_start(measuring, [other])
    assert not remaining.may_start(other, [measuring])
    assert remaining.may_start(other, ["tests/faults/test_rolling.py"])


@pytest.mark.parametrize(
    ("status", "closing_line", "is_shown"),
    [(0, "3 passed in 1s", False), (0, "3 passed, 1 rerun in 2s", True), (1, "1 failed in 1s", True)],
)
def test_a_file_of_which_a_test_failed_is_shown_whole_also_if_it_passed_when_run_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], status: int, closing_line: str, *, is_shown: bool
) -> None:
    output = tmp_path / "output"
    output.write_text(f"the first failure\n=== {closing_line} ===\n")
    remaining.print_result(remaining.FileRun("file", output, mock.Mock(returncode=status)))
    assert ("the first failure" in capsys.readouterr().out) == is_shown


def test_the_parts_of_a_file_are_all_its_tests_each_once(pytestconfig: pytest.Config) -> None:
    def part(numbers: str) -> list[str]:
        with mock.patch.object(pytestconfig.option, "part", parts.numbers_of(numbers)):
            items = list("abcdefg")
            with mock.patch.object(pytestconfig, "hook"):
                parts.deselect_others(pytestconfig, items)
            return items

    assert sorted(part("1/3") + part("2/3") + part("3/3")) == list("abcdefg")
    assert part("1/1") == list("abcdefg")
    with pytest.raises(ValueError, match="0 is not a part of 3"):
        part("0/3")
