"""Drains an ingest process that shuts down: files that are being read return to the queue at once.

Celery's warm shutdown waits for the processes of its pool without notifying them. Here they detect that a pipe is
closed, which the main process does when it is told to end. A SIGTERM to a process of the pool itself (service managers
send it to all processes) begins its drain too, and ends the process when its file is back in the queue. Where pools do
not fork (macOS), that is the only way.
"""

import os
import select
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from celery.signals import worker_init, worker_process_init, worker_shutting_down

# The ends of the pipe: every process of the pool holds the one for reading, only the main process the one for writing.
_read_end: int | None = None
_write_end: int | None = None
_main_process = 0
_is_terminated = threading.Event()


def has_begun(wait_s: float = 0.0) -> bool:
    """Wait up to `wait_s` for the drain to begin; return whether it has. After that, no file may be begun."""
    if _is_terminated.is_set():
        return True
    return _read_end is not None and bool(select.select([_read_end], [], [], wait_s)[0])


@contextmanager
def deferring_sigterm() -> Iterator[None]:
    """Let SIGTERM begin the drain inside the block, and end this process only afterwards."""
    if threading.current_thread() is not threading.main_thread():  # not a process of the pool
        yield
        return
    before = signal.signal(signal.SIGTERM, lambda *_: _is_terminated.set())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
        if _is_terminated.is_set():
            _is_terminated.clear()
            os.kill(os.getpid(), signal.SIGTERM)


@worker_init.connect
def open_pipe(**_: Any) -> None:
    global _read_end, _write_end, _main_process
    _read_end, _write_end = os.pipe()
    _main_process = os.getpid()


@worker_process_init.connect
def close_inherited_write_end(**_: Any) -> None:
    """Close the writing end in a forked process. A pool without processes sends this signal as well."""
    if os.getpid() != _main_process:
        _close_write_end()


@worker_shutting_down.connect
def begin(**_: Any) -> None:
    """Begin the drain, in the main process on SIGTERM."""
    _close_write_end()


def _close_write_end() -> None:
    global _write_end
    if _write_end is not None:
        os.close(_write_end)
        _write_end = None
