"""GC tuning for long-lived processes."""

import asyncio
import ctypes
import gc
from typing import Final

# Objects created per token are freed by their reference counts, so a collection every 700 allocations finds no cycles.
# A few megabytes of cyclic garbage may accumulate between collections.
ALLOCATIONS: Final = 50_000
# Of texts that get memory of their own. The C library begins with as much, and takes more and more for short.
LONG_TEXT_BYTES: Final = 128 * 1024
# Each keeps some megabytes of what was freed. Threads hold Python's lock while they take memory, so they do not wait.
ARENAS: Final = 2
# A collection of all takes 20 to 100 ms, in which nothing else runs; what a process has loaded at its start is left out.
FREEING_PAUSE_S: Final = 60
_M_MMAP_THRESHOLD, _M_ARENA_MAX = -3, -8
_C_LIBRARY: Final = ctypes.CDLL(None)


def tune_gc() -> None:
    """Exclude all objects loaded so far from collections, and collect less often. Call once, at the end of startup."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(ALLOCATIONS, 20, 50)
    _return_long_texts()


def _return_long_texts() -> None:
    """Have the C library (glibc) return the memory of long texts as soon as they are freed.
    By default, it keeps memory once longer texts were freed, in an arena for each of many threads.
    """
    if mallopt := getattr(_C_LIBRARY, "mallopt", None):
        mallopt(_M_MMAP_THRESHOLD, LONG_TEXT_BYTES)
        mallopt(_M_ARENA_MAX, ARENAS)


def free_circles(generation: int = 1) -> None:
    """Free what was allocated lately, or ever (2), and only refers to itself in circles. Call it after work with long texts.

    Rows that Django has joined or prefetched refer to each other: an answer and its run, an agent and its groups. A few of
    them may hold as many megabytes as the allocations above usually do together. So do exceptions that a frame of their
    traceback still names: all that the frames of a turn hold.
    """
    gc.collect(generation)
    if trim := getattr(_C_LIBRARY, "malloc_trim", None):
        trim(0)  # of shorter texts; without Python's lock


async def keep_freeing_circles() -> None:
    """Free all circles every minute, for a process whose works overlap: no collection finds all of them young."""
    while True:
        await asyncio.sleep(FREEING_PAUSE_S)
        await asyncio.to_thread(free_circles, 2)
