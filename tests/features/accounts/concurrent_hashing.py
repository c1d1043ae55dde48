"""Password hashing that keeps nobody out, for tests of what requests in different processes do to each other."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from features.accounts.login_attempt import PasswordHashing


class ConcurrentHashing(PasswordHashing):
    """Requests go on once so many of them have a slot, so that each has made its first checks before any of them is done."""

    def __init__(self, requests: int) -> None:
        super().__init__(slots=requests)
        self._all = threading.Barrier(requests, timeout=30)

    @contextmanager
    def slot(self) -> Iterator[None]:
        with super().slot():
            self._all.wait()
            yield
