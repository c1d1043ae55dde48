"""Ends what a test process has left behind: run beside it, told of every process it starts.

A test process that is killed (or that xdist ends without a word) runs no clean-up of its own, and its services and
workers would stay up for ever.
"""

import contextlib
import os
import signal
import subprocess
import sys
from functools import cache

import psutil

from config.programs import ROOT

# After the gentle signal.
GRACE_S = 5.0


def ends_with_us(process: "subprocess.Popen[bytes]") -> None:
    """Have this process's group ended at the latest when the calling one ends. It leads the group."""
    pipe = _guard().stdin
    assert pipe is not None
    pipe.write(b"%d\n" % process.pid)
    pipe.flush()


@cache
def _guard() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.leaving"], cwd=ROOT, stdin=subprocess.PIPE, start_new_session=True
    )


def main() -> None:
    started = []
    for line in sys.stdin.buffer:
        with contextlib.suppress(psutil.NoSuchProcess):
            started.append(psutil.Process(int(line)))
    # By its number alone a process that ended long ago could be somebody else's by now.
    left = [process for process in started if process.is_running()]
    _send(left, signal.SIGINT)
    _, deaf = psutil.wait_procs(left, GRACE_S)
    _send(deaf, signal.SIGKILL)


def _send(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)


if __name__ == "__main__":
    main()
