"""Ends the processes that a test process leaves behind when it is killed: `python -m tests.process_reaper`.

The reaper runs as a child of the test process and reads the pid of each process it starts from stdin. When stdin
closes, it ends those that still run: a test process that is killed, by xdist for example, runs no clean-up.
"""

import contextlib
import os
import signal
import subprocess
import sys
from functools import cache

import psutil

from config.programs import ROOT

# Between SIGINT and SIGKILL.
GRACE_S = 5.0


def end_with_this_process(process: "subprocess.Popen[bytes]") -> None:
    """Register `process`, a process group leader: its group is ended at the latest when the calling process ends."""
    pipe = _reaper().stdin
    assert pipe is not None
    pipe.write(b"%d\n" % process.pid)
    pipe.flush()


@cache
def _reaper() -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.process_reaper"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        start_new_session=True,
    )


def main() -> None:
    started = []
    for line in sys.stdin.buffer:
        with contextlib.suppress(psutil.NoSuchProcess):
            started.append(psutil.Process(int(line)))
    # is_running() compares start times: the pid of a process that has ended may have been reused.
    left = [process for process in started if process.is_running()]
    _send(left, signal.SIGINT)
    _, alive = psutil.wait_procs(left, GRACE_S)
    _send(alive, signal.SIGKILL)


def _send(processes: list[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)


if __name__ == "__main__":
    main()
