"""Supervises child processes: starts them, restarts them after any exit, stops them in order, forwards their output.

One thread, one loop, no knowledge of what the programs are (programs.py has that). Each child leads a process group of
its own. docs/decisions/0001 says why no library is used.
"""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO

from config.console import LineBuffer
from config.forked import Forked
from config.orphan_guard import signal_group
from config.own_programs import Main

# The delay before a restart doubles with each exit, until a child has lived for STEADY_S.
FIRST_DELAY_S = 0.1
LONGEST_DELAY_S = 5.0
STEADY_S = 10.0


@dataclass(frozen=True)
class Program:
    """A program to run, and how to stop it."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    # Programs stop in falling order of rank: 0 is the first to start and the last to stop.
    rank: int
    stop_signal: signal.Signals = signal.SIGTERM
    stop_grace_s: float = 10.0
    # -1: the umask of the supervisor.
    umask: int = -1
    # The function that a forked process runs instead of executing `command`, where the supervisor may fork.
    main: Main | None = None


Process = subprocess.Popen[bytes] | Forked


@dataclass
class Child:
    """One program and its current process."""

    program: Program
    process: Process | None = None
    started_at: float = 0.0
    # When to start the next process, in monotonic seconds. None: never again.
    due_at: float | None = 0.0
    quick_exits: int = 0
    # The return code of the latest process that ended, as in subprocess. None: none has ended.
    status: int | None = None
    output: LineBuffer = field(default_factory=LineBuffer, repr=False)

    @property
    def is_running(self) -> bool:
        return self.process is not None


class Supervisor:
    """Supervises programs while the caller calls `tick`; nothing happens between calls.

    write_line(name, line): receives each line that the children print.
    inherited_fds: descriptors (a lock) that the guard holds open until the last child of a killed launcher has ended.
    """

    def __init__(self, write_line: Callable[[str, str], None], inherited_fds: tuple[int, ...] = ()) -> None:
        self._write_line = write_line
        # Set once this process has imported the modules that the programs share.
        self.may_fork = False
        self._inherited_fds = inherited_fds
        self._children: list[Child] = []
        self._selector = selectors.DefaultSelector()
        self._start_guard()
        # Any signal (above all SIGCHLD) ends the wait in tick at once.
        self._wakeup_fd, write_fd = os.pipe()
        os.set_blocking(self._wakeup_fd, False)
        os.set_blocking(write_fd, False)
        signal.set_wakeup_fd(write_fd, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        self._selector.register(self._wakeup_fd, selectors.EVENT_READ)

    def start(self, program: Program) -> Child:
        child = Child(program)
        self._children.append(child)
        self._start_process(child)
        return child

    def start_once(self, program: Program) -> Child:
        """Run a program that is not restarted. The child's `status` is set when it has ended."""
        child = self.start(program)
        child.due_at = None
        return child

    def tick(self, wait_s: float = 0.5) -> None:
        """Forward output, handle exits, start children that are due. Returns after `wait_s` or the first event."""
        due = [child.due_at for child in self._children if child.process is None and child.due_at is not None]
        if due:
            wait_s = max(0.0, min(wait_s, min(due) - time.monotonic()))
        self._read(wait_s)
        if self._guard.poll() is not None:
            self._start_guard()
        for child in list(self._children):
            if child.process is not None and (status := child.process.poll()) is not None:
                self._handle_exit(child, child.process, status)
            if child.process is None and child.due_at is not None and time.monotonic() >= child.due_at:
                self._start_process(child)

    def stop(self, *, hurry: Callable[[], bool]) -> None:
        """Stop everything, highest rank first. While `hurry()` is true, grace periods last at most 1 s."""
        for child in self._children:
            child.due_at = None
        for rank in sorted({child.program.rank for child in self._children}, reverse=True):
            self._stop_rank([child for child in self._children if child.program.rank == rank], hurry)
        guard_input = self._guard.stdin
        if guard_input:
            guard_input.close()
        self._guard.wait()

    def _stop_rank(self, children: list[Child], hurry: Callable[[], bool]) -> None:
        began = time.monotonic()
        for child in children:
            if child.process:
                child.process.send_signal(child.program.stop_signal)
        while any(child.is_running for child in children):
            for child in children:
                grace_s = min(1.0, child.program.stop_grace_s) if hurry() else child.program.stop_grace_s
                if child.process and time.monotonic() - began > grace_s:
                    signal_group(child.process.pid, signal.SIGKILL)
            self.tick(0.1)

    def _start_process(self, child: Child) -> None:
        child.started_at = time.monotonic()
        try:
            child.process = self._open(child.program)
        except OSError as error:
            self._write_line(child.program.name, f"cannot be started: {error}")
            self._schedule(child)
            return
        stream = child.process.stdout
        assert stream is not None  # noqa: S101  it was opened as a pipe
        os.set_blocking(stream.fileno(), False)
        self._selector.register(stream, selectors.EVENT_READ, child)

    def _open(self, program: Program) -> Process:
        stop_signal = int(program.stop_signal)
        guard_input = self._guard.stdin
        assert guard_input is not None  # noqa: S101  it was opened as a pipe
        pipe = guard_input.fileno()

        def register_group() -> None:
            os.write(pipe, b"+ %d %d\n" % (os.getpid(), stop_signal))

        if self.may_fork and program.main:
            return Forked(partial(program.main, program.environment), prepare=register_group)
        return subprocess.Popen(  # noqa: S603  our own commands
            program.command,
            env=dict(program.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
            umask=program.umask,
            preexec_fn=register_group,  # noqa: PLW1509  safe: this process has one thread
        )

    def _handle_exit(self, child: Child, process: Process, status: int) -> None:
        # Processes that it left running in its group (a prefork pool, a shell's job) end with it.
        signal_group(process.pid, signal.SIGKILL)
        self._notify_guard(b"- %d 0\n" % process.pid)
        if process.stdout and not process.stdout.closed:
            self._forward_output(child, process.stdout)
            self._close(process.stdout)
        for line in child.output.end():
            self._write_line(child.program.name, line)
        child.process = None
        child.status = status
        if child.due_at is None:
            self._children.remove(child)
        else:
            self._write_line(child.program.name, f"ended with {describe(status)}; starting it again")
            self._schedule(child)

    def _schedule(self, child: Child) -> None:
        now = time.monotonic()
        child.quick_exits = child.quick_exits + 1 if now - child.started_at < STEADY_S else 1
        child.due_at = now + restart_delay_s(child.quick_exits)

    def _read(self, wait_s: float) -> None:
        for key, _ in self._selector.select(wait_s):
            if isinstance(key.data, Child):
                assert not isinstance(key.fileobj, int)  # noqa: S101  registered as a file
                self._forward_output(key.data, key.fileobj)  # type: ignore[arg-type]
            else:
                os.read(self._wakeup_fd, 4096)

    def _forward_output(self, child: Child, stream: IO[bytes]) -> None:
        try:
            data = os.read(stream.fileno(), 65_536)
        except BlockingIOError:
            return
        if data:
            for line in child.output.feed(data):
                self._write_line(child.program.name, line)
        else:
            self._close(stream)

    def _close(self, stream: IO[bytes]) -> None:
        if not stream.closed:
            self._selector.unregister(stream)
            stream.close()

    def _start_guard(self) -> None:
        self._guard = subprocess.Popen(  # noqa: S603  our own program
            [sys.executable, "-I", str(Path(__file__).with_name("orphan_guard.py"))],
            stdin=subprocess.PIPE, process_group=0, pass_fds=self._inherited_fds, bufsize=0,
        )  # fmt: skip
        for child in self._children:
            if child.process:
                self._notify_guard(b"+ %d %d\n" % (child.process.pid, child.program.stop_signal))

    def _notify_guard(self, line: bytes) -> None:
        # If the guard has exited, the next tick starts another, which is notified of all children.
        if self._guard.stdin:
            with contextlib.suppress(BrokenPipeError):
                os.write(self._guard.stdin.fileno(), line)


def restart_delay_s(quick_exits: int) -> float:
    """Return the delay after the nth exit in a row that came soon after a start. quick_exits: n, from 1."""
    return min(LONGEST_DELAY_S, FIRST_DELAY_S * 2.0 ** (quick_exits - 1))


def describe(status: int) -> str:
    return f"status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"
