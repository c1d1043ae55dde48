"""Processes that are forked from the launcher behave as programs of their own, each with its role (config/forked.py, own_programs.py)."""

import json
import os
import subprocess
import sys
from collections import defaultdict
from typing import Any

import pytest

from config.own_programs import main_of_line
from tests.instance import PATIENCE_S, ROOT
from tests.stack import procfile

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere each process is a program")


def said(*arguments: str) -> dict[str, list[Any]]:
    """By child, what it printed, and then its status."""
    completed = subprocess.run(
        [sys.executable, "-m", "tests.config.forking", *arguments],
        cwd=ROOT, env={**os.environ, "DEBUG": "1"}, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert completed.returncode == 0, completed.stderr
    found: dict[str, list[Any]] = defaultdict(list)
    for name, value in map(json.loads, completed.stdout.splitlines()):
        found[name].append(value)
    return found


@pytest.mark.pure
@pytest.mark.parametrize("name", procfile())
def test_every_process_of_the_procfile_can_be_forked(name: str) -> None:
    assert main_of_line(procfile()[name])


@pytest.mark.pure
@pytest.mark.parametrize(
    "line", ["./worker", "python -m a && rm b", "python -m a `b`", "python -m a $(b)", "A=1 python -m a", "python -m a > b"]
)  # fmt: skip
def test_a_line_that_needs_a_shell_or_another_program_is_not_forked(line: str) -> None:
    assert main_of_line(line) is None


def test_a_forked_child_has_streams_handlers_and_a_group_of_its_own_and_ends_as_a_program_does() -> None:
    children = said()
    *lines, status = children["describe"]
    assert lines[0] == "to the error output"
    assert json.loads(lines[1])[0] == {
        "descriptors": [0, 1, 2],
        "input": "",
        "is_leader": True,
        "are_default": [True, True, True],
    }
    assert status == 0
    assert [json.loads(line) if line[0] == "[" else line for line in map(str, children["end"][:-1])] == [["a thread"], ["the end"]]  # fmt: skip
    assert children["three"] == [3]
    assert children["text"] == ["no", 1]
    assert children["error"][-2:] == ["ValueError: it failed", 1]
    assert (children["killed"], children["term"]) == ([-9], [-15])


@pytest.mark.django_db
def test_a_preloaded_process_has_one_thread_and_its_children_each_their_role() -> None:
    """The modules of tasks stay out: importing them makes a process what it is."""
    children = said("preload")
    assert children["parent"] == [{"may_fork": True, "threads": 1}]
    assert children["tasks"] == [[]]
    sweeper, line = (json.loads(children[name][-2]) for name in ("sweeper", "line"))
    assert sweeper["limits"] == ["30s", "1s"]
    assert sweeper["title"].startswith("python -m tests.config.forked_role sweep_runs")
    assert line["arguments"] == ["tides", "ebb", str(line["pid"])]
    assert (children["sweeper"][-1], children["line"]) == (0, [children["line"][0], 0])
