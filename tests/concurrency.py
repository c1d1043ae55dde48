"""Runs functions concurrently, for tests of simultaneous requests."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection


def run_concurrently(*functions: Any) -> list[Any]:
    """Call each function in its own thread with its own database connection; all start at once. Results in order."""
    barrier = threading.Barrier(len(functions))

    def call(function: Any) -> Any:
        barrier.wait()
        try:
            return function()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(functions)) as pool:
        return [future.result() for future in [pool.submit(call, function) for function in functions]]
