"""Runs functions concurrently, for tests of simultaneous requests."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection


def run_concurrently(*functions: Any, connected: bool = True) -> list[Any]:
    """Call each function in its own thread with its own database connection; all start at once. Results in order.

    connected: each thread connects to the database before the start, because connecting takes longer than most races last. Pass
    False for more threads than the pool has connections.
    """
    barrier = threading.Barrier(len(functions), timeout=30)

    def call(function: Any) -> Any:
        try:
            if connected:
                try:
                    connection.ensure_connection()
                except Exception:
                    barrier.abort()  # the others need not wait: this error is the reason
                    raise
            barrier.wait()
            return function()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(functions)) as pool:
        futures = [pool.submit(call, function) for function in functions]
    errors = [error for future in futures if (error := future.exception())]
    for error in errors:
        if not isinstance(error, threading.BrokenBarrierError):
            raise error
    return [future.result() for future in futures]
