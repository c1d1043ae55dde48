"""A forked child process that shares the imports of this program, with the part of `Popen` that the supervisor uses.

Only for a process of one thread. The child runs nothing of the parent except the functions it is given: it has its own
standard streams, no other descriptor, the default signal handlers, and ends without returning to its callers.
"""

import atexit
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import IO

_HANDLED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD)


class Forked:
    """A forked child.

    main: the function that the child runs; its SystemExit is the status.  prepare: called in the child before
    descriptors are closed.
    """

    def __init__(self, main: Callable[[], None], prepare: Callable[[], None]) -> None:
        self.returncode: int | None = None
        reading, writing = os.pipe()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        self.pid = os.fork()
        if self.pid == 0:
            _be_child(main, prepare, writing)
        # In parent and child, so that neither continues before it is done.
        with suppress(PermissionError, ProcessLookupError):
            os.setpgid(self.pid, self.pid)
        os.close(writing)
        self.stdout: IO[bytes] = os.fdopen(reading, "rb", buffering=0)

    def poll(self) -> int | None:
        """Return the status, negative for a signal, as in subprocess; None while the child runs."""
        if self.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.returncode = os.waitstatus_to_exitcode(status)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)


def _be_child(main: Callable[[], None], prepare: Callable[[], None], output: int) -> None:
    """Run the child; never returns.
    Frames and objects of the parent stay referenced, so that none of them closes a descriptor of the child.
    """
    status = 1
    try:
        os.setpgid(0, 0)
        prepare()
        _leave_parent(output)
        main()
        status = 0
    except SystemExit as end:
        status = _status_of(end)
    except BaseException:  # noqa: BLE001  an interpreter prints it as well
        traceback.print_exc()
    finally:
        _end(status)


def _leave_parent(output: int) -> None:
    signal.set_wakeup_fd(-1)
    for number in _HANDLED:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    highest = max(int(entry.name) for entry in Path("/proc/self/fd").iterdir())
    os.closerange(3, highest + 1)
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]


def _status_of(end: SystemExit) -> int:
    if end.code is None or isinstance(end.code, int):
        return end.code or 0
    sys.stderr.write(f"{end.code}\n")
    return 1


def _end(status: int) -> None:
    """End the process with the steps of an interpreter's end, in their order."""
    try:
        threading._shutdown()  # type: ignore[attr-defined]  # noqa: SLF001  as multiprocessing does
        atexit._run_exitfuncs()  # noqa: SLF001
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(status & 0xFF)
