"""Bounds on how many passwords this process hashes at once: a flood of logins must not take the CPU from requests.

A hash takes a core for a third of a second. Attempts beyond the bounds are refused at once instead of queued.
"""

import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from chat.protocol.errors import ApiError

# Half of the cores remain free for requests.
SLOTS: Final = max(1, (os.cpu_count() or 1) // 2)
# Logins that hash or wait to hash. They wait without a database connection.
MAX_INSIDE: Final = 16
# The part of them from one address, so that others get their turn during a flood.
MAX_INSIDE_PER_ADDRESS: Final = 4
# Longer than all other logins inside can take.
LONGEST_WAIT_S: Final = 20.0
RETRY_AFTER_S: Final = 3


class PasswordHashing:
    """The bounds of one process, shared by its threads."""

    def __init__(
        self,
        slots: int = SLOTS,
        max_inside: int = MAX_INSIDE,
        max_inside_per_address: int = MAX_INSIDE_PER_ADDRESS,
    ) -> None:
        self._slots = threading.BoundedSemaphore(slots)
        self._lock = threading.Lock()
        self._inside: Counter[str] = Counter()
        self._max_inside = max_inside
        self._max_inside_per_address = max_inside_per_address

    @contextmanager
    def entered(self, address: str) -> Iterator[None]:
        """Count a login as inside during the block. Raises ApiError at once: `rate_limited` or `login_busy`."""
        self._enter(address)
        try:
            yield
        finally:
            self._leave(address)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait for a slot to hash in, and hold it during the block. Raises ApiError after LONGEST_WAIT_S."""
        if not self._slots.acquire(timeout=LONGEST_WAIT_S):
            raise ApiError("login_busy", retry_after_s=RETRY_AFTER_S)
        try:
            yield
        finally:
            self._slots.release()

    def _enter(self, address: str) -> None:
        with self._lock:
            if self._inside[address] >= self._max_inside_per_address:
                raise ApiError("rate_limited", retry_after_s=RETRY_AFTER_S)
            if self._inside.total() >= self._max_inside:
                raise ApiError("login_busy", retry_after_s=RETRY_AFTER_S)
            self._inside[address] += 1

    def _leave(self, address: str) -> None:
        with self._lock:
            self._inside[address] -= 1
            if not self._inside[address]:
                del self._inside[address]


hashing: Final = PasswordHashing()
