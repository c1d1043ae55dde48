"""Several people, or several tabs, at the very same moment."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import connection


def together(*acts: Any) -> list[Any]:
    """Runs them in threads that start at the same moment; each has its own connection."""
    barrier = threading.Barrier(len(acts))

    def act(one: Any) -> Any:
        barrier.wait()
        try:
            return one()
        finally:
            connection.close()

    with ThreadPoolExecutor(len(acts)) as pool:
        return [future.result() for future in [pool.submit(act, one) for one in acts]]
