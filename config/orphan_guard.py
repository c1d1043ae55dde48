"""A process that outlives a killed launcher by seconds: it ends the process groups the launcher left behind.

The launcher holds the write end of this process's standard input. Every child writes its own process group there
before it becomes its program, so none is missed; the end of the input means that the launcher is gone. Works the
same on Linux and macOS. Run by supervisor.py only.
"""

import contextlib
import os
import signal
import sys
import time

# After the gentle signal of each program; "nothing left within seconds" is the promise.
GRACE_S = 3.0


def main() -> None:
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    groups: dict[int, int] = {}
    for line in sys.stdin.buffer:
        verb, group, number = line.split()
        if verb == b"+":
            groups[int(group)] = int(number)
        else:
            groups.pop(int(group), None)
    end(groups)


def end(groups: dict[int, int]) -> None:
    """Signal each group as its program likes it, then kill what is left. group -> signal number."""
    for group, number in groups.items():
        send(group, number)
    limit = time.monotonic() + GRACE_S
    while time.monotonic() < limit and any(send(group, 0) for group in groups):
        time.sleep(0.05)
    for group in groups:
        send(group, signal.SIGKILL)


def send(group: int, number: int) -> bool:
    """Whether the group was there."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
        return True
    return False


if __name__ == "__main__":
    main()
