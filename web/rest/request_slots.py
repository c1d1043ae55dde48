"""Limits on the work that each user has in progress in a web process, requests above all, so that others find room.

Requests take half of the database connections at most, so that other users always find one (decision 0088).

Further requests wait, without a connection, for a request of the same user to end, and are refused with 429 after some
time.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, Lock
from typing import Final, Self

from chat.protocol.errors import ApiError
from knowledge.idle_connection import return_idle_connection

# Retry-After of a refusal, in seconds.
RETRY_AFTER_S = 5


class UserSlots:
    """The slots of each user. most: slots per user.
    waiting: requests of a user that may wait for a slot. wait_s: how long each may wait.
    """

    def __init__(self, most: int, *, waiting: int = 0, wait_s: float = 0.0) -> None:
        self.most, self.waiting, self.wait_s = most, waiting, wait_s
        self._changed = Condition()
        self._taken: Counter[object] = Counter()
        self._waiting: Counter[object] = Counter()

    def take(self, user: object) -> "Slot":
        """Take a slot; wait for one if necessary. Raises ApiError (429) if none becomes free.
        A request that waits holds no database connection.
        """
        with self._changed:
            if self._taken[user] >= self.most:
                self._wait(user)
            self._taken[user] += 1
        return Slot(self, user)

    def free(self, user: object) -> None:
        with self._changed:
            self._taken[user] -= 1
            _forget_zero(self._taken, user)
            self._changed.notify_all()

    def _wait(self, user: object) -> None:
        if self._waiting[user] >= self.waiting:
            _forget_zero(self._waiting, user)
            _forget_zero(self._taken, user)
            raise ApiError("rate_limited", retry_after_s=RETRY_AFTER_S)
        return_idle_connection()
        self._waiting[user] += 1
        try:
            is_free = self._changed.wait_for(lambda: self._taken[user] < self.most, self.wait_s)
        finally:
            self._waiting[user] -= 1
            _forget_zero(self._waiting, user)
        if not is_free:
            raise ApiError("rate_limited", retry_after_s=RETRY_AFTER_S)


class Slot:
    """One unit of work in progress. It is freed once, however often free() is called, and when it is unreferenced."""

    def __init__(self, slots: UserSlots | None, user: object) -> None:
        """Take `slots`; None: the user needs none."""
        self._slots = slots
        self._user = user

    def free(self) -> None:
        slots, self._slots = self._slots, None
        if slots is not None:
            slots.free(self._user)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.free()

    # A response that is dropped before it is sent, for example because its client has disconnected, is never closed.
    __del__ = free


def _forget_zero(counts: Counter[object], user: object) -> None:
    if counts[user] <= 0:
        del counts[user]


# Short requests: a client that sends many at the same time is served in turns.
REQUESTS: Final = UserSlots(8, waiting=100, wait_s=20.0)
# Requests that may take seconds: searches, whole branches and trees, texts of files, sums over all rows of a user.
EXPENSIVE: Final = UserSlots(2, waiting=100, wait_s=20.0)
# Requests whose JSON may have megabytes of text, which takes the CPU of this process for a good part of a second.
LONG_BODIES: Final = UserSlots(2, waiting=100, wait_s=20.0)
# Requests of anonymous readers of shared links, counted for the owner.
SHARED: Final = UserSlots(4, waiting=50, wait_s=10.0)
# Pages of the admin, counted for their member of staff.
ADMIN: Final = UserSlots(4, waiting=20, wait_s=10.0)
# Streams, until the last byte is sent, mostly without a database connection. A browser opens six connections to a host.
DOWNLOADS: Final = UserSlots(8)
EXPORTS: Final = UserSlots(2)


MAX_AT_ONCE: Final = 2
_lock: Final = Lock()
_importing: Final[set[object]] = set()


@contextmanager
def import_slot(user: object) -> Iterator[None]:
    """Hold one of the process's import slots during the block: an import may hold ten times the bytes of its file.

    Raises ApiError if none is free.
    user: the user's id, which has at most one slot.
    """
    with _lock:
        if user in _importing or len(_importing) >= MAX_AT_ONCE:
            raise ApiError("too_many_uploads")
        _importing.add(user)
    try:
        yield
    finally:
        with _lock:
            _importing.discard(user)
