"""Slots for what a worker process computes for runs, fair by user: nobody waits behind all that another has asked for."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from typing import Final
from weakref import WeakKeyDictionary

# The id of the user whose run the current task carries out; None: no run's.
USER: Final[ContextVar[int | None]] = ContextVar("user", default=None)
User = int | None


class FairSlots:
    """Slots of one event loop. places: how much is computed at once.  each: of these, for one user at most."""

    def __init__(self, places: int, each: int) -> None:
        self._places, self._each = places, each
        self._held: Counter[User] = Counter()
        # The user who has waited longest comes first.
        self._waiting: dict[User, deque[asyncio.Future[None]]] = {}

    async def take(self) -> Callable[[], None]:
        """Wait for a slot of the current user. Returns what frees it; to be called once, on the loop."""
        user = USER.get()
        if self._is_free(user) and user not in self._waiting:
            self._held[user] += 1
        else:
            await self._wait(user)
        return partial(self._free, user)

    async def _wait(self, user: User) -> None:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(user, deque()).append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # it was given a slot meanwhile
                self._free(user)
            elif turn in self._waiting.get(user, ()):
                self._forget(user, turn)
            raise

    def _is_free(self, user: User) -> bool:
        return self._held.total() < self._places and self._held[user] < self._each

    def _free(self, user: User) -> None:
        self._held[user] -= 1
        while free := [waiting for waiting in self._waiting if self._is_free(waiting)]:
            following = min(free, key=lambda waiting: self._held[waiting])
            turn = self._waiting[following][0]
            self._forget(following, turn)
            if not turn.cancelled():
                self._held[following] += 1
                turn.set_result(None)
        self._held += Counter()  # without users who hold none

    def _forget(self, user: User, turn: asyncio.Future[None]) -> None:
        """Remove a task that waits; the others of its user wait behind all other users from now on."""
        others = self._waiting.pop(user)
        others.remove(turn)
        if others:
            self._waiting[user] = others


class LoopSlots:
    """The slots of each event loop, as FairSlots."""

    def __init__(self, places: int, each: int) -> None:
        self._create = partial(FairSlots, places, each)
        self._slots: WeakKeyDictionary[asyncio.AbstractEventLoop, FairSlots] = WeakKeyDictionary()

    async def take(self) -> Callable[[], None]:
        """Wait for a slot in the running loop, as FairSlots.take does."""
        return await self._slots.setdefault(asyncio.get_running_loop(), self._create()).take()
