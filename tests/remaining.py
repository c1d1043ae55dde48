"""Runs, of the tests that no change waits for, as many files as a budget of time allows: `python -m tests.remaining`.

The hash of the commit decides the order, so that every file has its turn within a few changes, and a commit checked twice
has the same files. Files that take minutes are cut into parts, each with a turn of its own. Two files run side by side, each
in a process of its own; one that measures how long an answer takes runs alone. What runs when the time is over is ended; it
counts as left. The exit status is 1 if a test failed.

pytest-xdist would import all these files in each of its processes before the first test runs, which takes 40 s of a processor,
and wait for the tests that run when the time is over; `--session-timeout` of pytest-timeout counts as a failure.
"""

import argparse
import hashlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests import suites
from tests.instance import ROOT, environment_of_pytest

SIDE_BY_SIDE: Final = 2
DEFAULT_BUDGET_S: Final = 300
# Of an ended pytest process, for its fixtures to end what they started.
GRACE_S: Final = 20
NO_TESTS: Final = 5
# In how many parts a file runs that takes more than two minutes beside another one: it would never end within the budget.
PARTS: Final = {
    "tests/faults/test_documents.py": 2,
    "tests/faults/test_files.py": 2,
    "tests/faults/test_start.py": 3,
    "tests/faults/test_start_matrix.py": 4,
    "tests/matrix/test_rest.py": 4,
    "tests/matrix/test_side_by_side.py": 5,
}
# What another file beside them computes would count.
ALONE: Final = {"tests/matrix/test_side_by_side.py"}


@dataclass
class FileRun:
    """A pytest process that runs one file, or a part of it.  name: its path, and which part."""

    name: str
    output: Path
    process: "subprocess.Popen[bytes]"

    @classmethod
    def start(cls, name: str, folder: Path) -> "FileRun":
        output = folder / name.replace("/", "-")
        path, _, part = name.partition(" ")
        command = [sys.executable, "-m", "pytest", "-q", "-m", suites.REMAINING, path]
        if part:
            command += ["--part", part]
        with output.open("wb") as file:
            process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=environment_of_pytest(),
                stdout=file,
                stderr=file,
                start_new_session=True,
            )
        return cls(name, output, process)

    @property
    def has_failed(self) -> bool:
        return self.process.returncode not in (0, NO_TESTS)

    @property
    def was_repeated(self) -> bool:
        """Whether a test passed only when it was run again: the output has its first failure (reruns.py)."""
        return " rerun" in self.closing_line

    @property
    def text(self) -> str:
        return self.output.read_text(encoding="utf-8", errors="replace").strip()

    @property
    def closing_line(self) -> str:
        return self.text.rpartition("\n")[2].strip("= ")

    def end(self) -> None:
        """As Ctrl+C does, so that fixtures end their processes; by force if that takes too long."""
        self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()


def commit() -> str:
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()


def files_in_order(seed: str) -> list[str]:
    """The test files of which some test may remain, relative to the root; of a long one, each of its parts."""
    paths = (ROOT / "tests").rglob("test_*.py")
    remaining = [
        name
        for path in paths
        if not suites.is_ignored(path, suites.REMAINING)
        for name in _parts_of(path.relative_to(ROOT).as_posix())
    ]
    return sorted(remaining, key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest())


def _parts_of(path: str) -> list[str]:
    count = PARTS.get(path, 1)
    return [f"{path} {number}/{count}" for number in range(1, count + 1)] if count > 1 else [path]


def run(files: list[str], budget_s: float) -> tuple[list[FileRun], list[str]]:
    """Run `files` in this order until `budget_s` seconds are over; return what ended by itself, and what is left."""
    deadline = time.monotonic() + budget_s
    waiting, running, ended = list(files), [], []
    with tempfile.TemporaryDirectory() as folder:
        try:
            while (waiting or running) and time.monotonic() < deadline:
                while waiting and may_start(waiting[0], [one.name for one in running]):
                    running.append(FileRun.start(waiting.pop(0), Path(folder)))
                time.sleep(0.2)
                for one in [one for one in running if one.process.poll() is not None]:
                    running.remove(one)
                    ended.append(one)
                    print_result(one)
        finally:
            for one in running:
                one.end()
    return ended, [one.name for one in running] + waiting


def may_start(name: str, running: list[str]) -> bool:
    """Return whether the file `name` may run beside the files that run."""
    if any(each.partition(" ")[0] in ALONE for each in (name, *running)):
        return not running
    return len(running) < SIDE_BY_SIDE


def print_result(one: FileRun) -> None:
    if one.has_failed or one.was_repeated:
        print(one.text)
    print(f"{one.name}: {one.closing_line}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Run files of the remaining tests for a time.")
    budget = float(os.environ.get("CI_BUDGET_S", DEFAULT_BUDGET_S))
    parser.add_argument("--budget", type=float, default=budget, help="seconds; default: CI_BUDGET_S, or 300")
    parser.add_argument("--seed", help="what decides the order; default: the hash of the commit")
    arguments = parser.parse_args()
    # What a shell starts in the background ignores SIGINT, as would the files that are ended by it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    seed = arguments.seed or commit()
    ended, left = run(files_in_order(seed), arguments.budget)
    failed = [one.name for one in ended if one.has_failed]
    print(f"remaining tests in the order of {seed}: {len(ended)} files ran, {len(left)} are left")
    print(f"left: {', '.join(left)}")
    if failed:
        print(f"failed: {', '.join(failed)}")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
