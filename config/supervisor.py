"""Keep child processes alive: start, restart after any exit, stop in order, show what they print.

One thread, one loop, no knowledge of what the programs are (launcher.py has that). Each child is a descendant in
a process group of its own. See docs/decisions/0001-process-supervisor.md for why this is not a library.
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
from pathlib import Path
from typing import IO

from config.orphan_guard import send

# The first restart is at once; then twice as long each time, until a child has lived STEADY_S.
FIRST_DELAY_S = 0.1
LONGEST_DELAY_S = 5.0
STEADY_S = 10.0
# Of a line without an end, the newest part is kept.
LONGEST_LINE_BYTES = 65_536


@dataclass(frozen=True)
class Program:
    """What to run, and how it likes to be stopped."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    # Stopped in falling order of rank: 0 is the first to start and the last to stop.
    rank: int
    stop_signal: signal.Signals = signal.SIGTERM
    stop_grace_s: float = 10.0


@dataclass
class Child:
    """One program and its current process."""

    program: Program
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    # Monotonic; when to start the next process. None: not to be started again.
    due_at: float | None = 0.0
    quick_exits: int = 0
    # Of the latest process that ended, as in subprocess; None: none has.
    status: int | None = None
    unfinished_line: bytes = field(default=b"", repr=False)

    @property
    def is_running(self) -> bool:
        return self.process is not None


class Supervisor:
    """Call `tick` for ever; nothing happens outside it. `say(name, line)` receives what children print.

    held: file descriptors (a lock) that stay open until the last child of a killed launcher is gone, too.
    """

    def __init__(self, say: Callable[[str, str], None], held: tuple[int, ...] = ()) -> None:
        self._say = say
        self._held = held
        self._children: list[Child] = []
        self._selector = selectors.DefaultSelector()
        self._start_guard()
        # A signal (SIGCHLD above all) ends the wait in tick at once.
        self._woken, wake = os.pipe()
        os.set_blocking(self._woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
        self._selector.register(self._woken, selectors.EVENT_READ)

    def start(self, program: Program) -> Child:
        child = Child(program)
        self._children.append(child)
        self._spawn(child)
        return child

    def start_once(self, program: Program) -> Child:
        """Run a program that is not restarted; `status` of the child says how it ended."""
        child = self.start(program)
        child.due_at = None
        return child

    def tick(self, wait_s: float = 0.5) -> None:
        """Pass on output, notice exits, start what is due. Returns after `wait_s` or the first event."""
        due = [child.due_at for child in self._children if child.process is None and child.due_at is not None]
        if due:
            wait_s = max(0.0, min(wait_s, min(due) - time.monotonic()))
        self._read(wait_s)
        if self._guard.poll() is not None:
            self._start_guard()
        for child in list(self._children):
            if child.process is not None and child.process.poll() is not None:
                self._ended(child, child.process)
            if child.process is None and child.due_at is not None and time.monotonic() >= child.due_at:
                self._spawn(child)

    def stop(self, *, hurry: Callable[[], bool]) -> None:
        """Stop everything, highest rank first; `hurry()` true cuts every grace short."""
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
                    send(child.process.pid, signal.SIGKILL)
            self.tick(0.1)

    def _spawn(self, child: Child) -> None:
        child.started_at = time.monotonic()
        try:
            child.process = self._open(child.program)
        except OSError as error:
            self._say(child.program.name, f"cannot be started: {error}")
            self._schedule(child)
            return
        stream = child.process.stdout
        assert stream is not None  # noqa: S101  it was opened as a pipe
        os.set_blocking(stream.fileno(), False)
        self._selector.register(stream, selectors.EVENT_READ, child)

    def _open(self, program: Program) -> subprocess.Popen[bytes]:
        stop_signal = int(program.stop_signal)
        guard_input = self._guard.stdin
        assert guard_input is not None  # noqa: S101  it was opened as a pipe
        pipe = guard_input.fileno()

        def announce() -> None:
            os.write(pipe, b"+ %d %d\n" % (os.getpid(), stop_signal))

        return subprocess.Popen(  # noqa: S603  our own commands
            program.command,
            env=dict(program.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            process_group=0,
            preexec_fn=announce,  # noqa: PLW1509  safe: we have one thread
        )

    def _ended(self, child: Child, process: subprocess.Popen[bytes]) -> None:
        # Whatever it left running in its group (a prefork pool, a shell's job) goes with it.
        send(process.pid, signal.SIGKILL)
        self._tell_guard(b"- %d 0\n" % process.pid)
        if process.stdout and not process.stdout.closed:
            self._pass_on(child, process.stdout)
            self._close(process.stdout)
        child.process = None
        child.status = process.returncode
        if child.due_at is None:
            self._children.remove(child)
        else:
            self._say(child.program.name, f"ended with {describe(child.status)}; starting it again")
            self._schedule(child)

    def _schedule(self, child: Child) -> None:
        now = time.monotonic()
        child.quick_exits = child.quick_exits + 1 if now - child.started_at < STEADY_S else 1
        child.due_at = now + restart_delay_s(child.quick_exits)

    def _read(self, wait_s: float) -> None:
        for key, _ in self._selector.select(wait_s):
            if isinstance(key.data, Child):
                assert not isinstance(key.fileobj, int)  # noqa: S101  registered as a file
                self._pass_on(key.data, key.fileobj)  # type: ignore[arg-type]
            else:
                os.read(self._woken, 4096)

    def _pass_on(self, child: Child, stream: IO[bytes]) -> None:
        try:
            data = os.read(stream.fileno(), 65_536)
        except BlockingIOError:
            return
        if data:
            *lines, child.unfinished_line = (child.unfinished_line + data).split(b"\n")
            for line in lines:
                self._say(child.program.name, line.decode(errors="replace").rstrip())
            child.unfinished_line = child.unfinished_line[-LONGEST_LINE_BYTES:]
        else:
            self._close(stream)

    def _close(self, stream: IO[bytes]) -> None:
        if not stream.closed:
            self._selector.unregister(stream)
            stream.close()

    def _start_guard(self) -> None:
        self._guard = subprocess.Popen(  # noqa: S603  our own program
            [sys.executable, "-I", str(Path(__file__).with_name("orphan_guard.py"))],
            stdin=subprocess.PIPE, process_group=0, pass_fds=self._held, bufsize=0,
        )  # fmt: skip
        for child in self._children:
            if child.process:
                self._tell_guard(b"+ %d %d\n" % (child.process.pid, child.program.stop_signal))

    def _tell_guard(self, line: bytes) -> None:
        # Should it have died: the next tick starts another one, which is told of all children.
        if self._guard.stdin:
            with contextlib.suppress(BrokenPipeError):
                os.write(self._guard.stdin.fileno(), line)


def restart_delay_s(quick_exits: int) -> float:
    """How long to wait after the nth exit in a row that came soon after the start, n from 1."""
    return min(LONGEST_DELAY_S, FIRST_DELAY_S * 2.0 ** (quick_exits - 1))


def describe(status: int) -> str:
    return f"status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"
