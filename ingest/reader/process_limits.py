"""Limits of the process that reads a file: memory, processor time, size and number of files, lifetime of the parent."""

import ctypes
import resource
import signal
import sys
from typing import Final

# Address space; Python and the libraries take 0.1 to 0.3 GB of it.
MEMORY_BYTES: Final = 1200 * 1024 * 1024
# SIGXCPU at the first limit, SIGKILL at the second.
CPU_S: Final = (60, 65)
# For a page, because a user waits for it. At the first limit, all visible text is read instead of the main text.
PAGE_CPU_S: Final = (6, 15)
# The size of a file that the process writes.
FILE_BYTES: Final = 256 * 1024 * 1024
OPEN_FILES: Final = 64
_PR_SET_PDEATHSIG: Final = 1


def limit_this_process(cpu_s: tuple[int, int]) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, cpu_s)
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
    resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, OPEN_FILES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":  # macOS can neither limit the address space nor signal the parent's death
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    end_with_parent()


def end_with_parent() -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
