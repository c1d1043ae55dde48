"""Bounds how many passwords this process hashes at once: a flood of logins must not take the processor from requests.

A hash takes a core for a third of a second. What exceeds the bounds is refused at once instead of queued.
"""

import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from chat.protocol.errors import ApiError

# Half of the cores stay free for requests.
SLOTS: Final = max(1, (os.cpu_count() or 1) // 2)
# Logins that hash or wait for it. They wait without a database connection.
MAX_INSIDE: Final = 16
# Of them, from one address: others get their turn beside a flood.
MAX_INSIDE_PER_ADDRESS: Final = 4
# Longer than the others inside take.
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
        """Count a login as inside. Raises ApiError at once: `rate_limited`, `login_busy`."""
        self._enter(address)
        try:
            yield
        finally:
            self._leave(address)

    @contextmanager
    def slot(self) -> Iterator[None]:
        """Wait for the turn to hash. Raises ApiError."""
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
