"""Limits on one kind of work that each user has in progress in this process, so that other users find room."""

from collections import Counter
from threading import Condition
from typing import Self

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
