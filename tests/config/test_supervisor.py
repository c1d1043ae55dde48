"""The supervisor with small programs of its own: restart, back-off, output, order, and what a killed one leaves."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from config.supervisor import Program, Supervisor, describe, restart_delay_s
from tests.instance import PATIENCE_S, ROOT, have_ended

SLEEP = "import time; time.sleep(600)"


class OutputRecorder(list[tuple[str, str]]):
    def __call__(self, name: str, line: str) -> None:
        self.append((name, line))

    def of(self, name: str) -> list[str]:
        return [line for speaker, line in self if speaker == name]


def program(name: str, code: str, rank: int = 0, **more: object) -> Program:
    return Program(name, [sys.executable, "-u", "-c", code], dict(os.environ), rank, **more)  # type: ignore[arg-type]


@pytest.fixture
def recorded() -> OutputRecorder:
    return OutputRecorder()


@pytest.fixture
def supervisor(recorded: OutputRecorder) -> Iterator[Supervisor]:
    before = signal.getsignal(signal.SIGCHLD)
    supervisor = Supervisor(recorded)
    yield supervisor
    supervisor.stop(hurry=lambda: True)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, before)


def tick_until(supervisor: Supervisor, true: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < limit
        supervisor.tick(0.1)


@pytest.mark.parametrize(("exits", "delay_s"), [(1, 0.1), (2, 0.2), (3, 0.4), (7, 5.0), (1000, 5.0)])
def test_back_off_starts_fast_and_has_a_limit(exits: int, delay_s: float) -> None:
    assert restart_delay_s(exits) == pytest.approx(delay_s)


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        ("pass", "status 0"),
        ("raise SystemExit(3)", "status 3"),
        ("import os; os._exit(4)", "status 4"),
        ("import os; os.kill(os.getpid(), 9)", "signal SIGKILL"),
    ],
)
def test_a_program_is_started_again_however_it_ends_and_the_log_says_how(
    supervisor: Supervisor, recorded: OutputRecorder, ending: str, told: str
) -> None:
    supervisor.start(program("job", f"print('here'); {ending}"))
    tick_until(supervisor, lambda: recorded.of("job").count("here") >= 3)
    assert recorded.of("job")[:4] == ["here", f"ended with {told}; starting it again"] * 2


def test_a_program_that_is_to_run_once_is_not_started_again(
    supervisor: Supervisor, recorded: OutputRecorder
) -> None:
    child = supervisor.start_once(program("once", "print('done'); raise SystemExit(7)"))
    tick_until(supervisor, lambda: not child.is_running)
    assert child.status == 7
    assert recorded.of("once") == ["done"]


def test_a_program_that_cannot_be_started_is_tried_again(
    supervisor: Supervisor, recorded: OutputRecorder
) -> None:
    supervisor.start(Program("missing", ["/nonexistent"], {}, 0))
    tick_until(supervisor, lambda: len(recorded.of("missing")) >= 2)


def test_output_without_an_end_of_line_is_not_lost_nor_hoarded(
    supervisor: Supervisor, recorded: OutputRecorder
) -> None:
    supervisor.start(program("long", f"print('x' * 1_000_000); print('after'); {SLEEP}"))
    tick_until(supervisor, lambda: "after" in recorded.of("long"))


def test_what_a_program_left_in_its_group_goes_with_it(
    supervisor: Supervisor, recorded: OutputRecorder
) -> None:
    leave = f"import subprocess, sys; print(subprocess.Popen([sys.executable, '-c', {SLEEP!r}]).pid)"
    child = supervisor.start_once(program("parent", leave))
    tick_until(supervisor, lambda: not child.is_running)
    left = int(recorded.of("parent")[0])
    tick_until(supervisor, lambda: not psutil.pid_exists(left) or psutil.Process(left).status() == "zombie")


def test_programs_stop_highest_rank_first(supervisor: Supervisor, recorded: OutputRecorder) -> None:
    wait = "import signal, sys, time; signal.signal(15, lambda *_: (print('bye'), sys.exit())); print('up'); time.sleep(600)"
    for rank, name in enumerate(["first", "second", "third"]):
        supervisor.start(program(name, wait, rank))
    tick_until(supervisor, lambda: sum(line == "up" for _, line in recorded) == 3)
    supervisor.stop(hurry=lambda: False)
    assert [name for name, line in recorded if line == "bye"] == ["third", "second", "first"]


def test_a_program_that_does_not_stop_is_killed_after_its_grace(
    supervisor: Supervisor, recorded: OutputRecorder
) -> None:
    deaf = f"import signal; signal.signal(15, signal.SIG_IGN); print('up'); {SLEEP}"
    child = supervisor.start(program("deaf", deaf, stop_grace_s=0.2))
    tick_until(supervisor, lambda: "up" in recorded.of("deaf"))
    supervisor.stop(hurry=lambda: False)
    assert child.status == -signal.SIGKILL


def test_nothing_outlives_a_killed_supervisor(tmp_path: Path) -> None:
    """Not even a program that ignores the gentle signal, nor one started a moment before."""
    script = """
import os, signal, sys
from config.supervisor import Program, Supervisor
supervisor = Supervisor(lambda name, line: print(line, flush=True))
deaf = "import os, signal, time; signal.signal(15, signal.SIG_IGN); print(os.getpid(), flush=True); time.sleep(600)"
for number in range(3):
    supervisor.start(Program("x", [sys.executable, "-c", deaf], dict(os.environ), 0))
while True:
    supervisor.tick()
"""
    supervisor = subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE)
    assert supervisor.stdout
    for _ in range(3):
        supervisor.stdout.readline()
    children = psutil.Process(supervisor.pid).children(recursive=True)
    assert len(children) == 4, "three programs and the guard"
    supervisor.kill()
    supervisor.wait()
    supervisor.stdout.close()
    assert have_ended(children)


def test_an_ending_is_told_in_words() -> None:
    assert describe(3) == "status 3"
    assert describe(-9) == "signal SIGKILL"
