"""A process that outlives a killed launcher by a few seconds and ends the process groups it left behind.

The launcher holds the write end of this process's standard input. Each child writes its process group there before
it executes its program, so none is missed. The end of the input means that the launcher has ended. Works the same on
Linux and macOS. Run by supervisor.py only.
"""

import contextlib
import os
import signal
import sys
import time

# Between each program's stop signal and SIGKILL.
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
    end_groups(groups)


def end_groups(groups: dict[int, int]) -> None:
    """Send each group its stop signal, then kill those that remain. groups: process group -> signal number."""
    for group, number in groups.items():
        signal_group(group, number)
    limit = time.monotonic() + GRACE_S
    while time.monotonic() < limit and any(signal_group(group, 0) for group in groups):
        time.sleep(0.05)
    for group in groups:
        signal_group(group, signal.SIGKILL)


def signal_group(group: int, number: int) -> bool:
    """Send a signal to a process group; False if the group does not exist. Signal 0 only checks."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, number)
        return True
    return False


if __name__ == "__main__":
    main()
