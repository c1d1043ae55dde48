"""Keeps one client for each address and key, and closes the clients that nobody has used for longest.

Staff add, change and delete providers while the process runs, so the number of clients is bounded. Knows nothing of
HTTP.
"""

from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Generic, NamedTuple, TypeVar

from llm_worker.upstream.model_request import Model

# Above this number, clients without requests are closed.
MAX_CLIENTS: Final = 32

C = TypeVar("C")


class Place(NamedTuple):
    """The address and key that a client is made for. Another address or key needs another client."""

    base_url: str
    api_key: str
    is_guarded: bool

    @classmethod
    def from_model(cls, model: Model) -> "Place":
        return cls(model.base_url, model.api_key, model.is_guarded)


@dataclass
class _Held(Generic[C]):
    client: C
    requests: int = 0


class ClientPool(Generic[C]):
    """A bounded pool with one client for each place. Bound to one event loop."""

    def __init__(
        self,
        create: Callable[[Place], C],
        close: Callable[[C], Awaitable[None]],
        most: int = MAX_CLIENTS,
    ) -> None:
        self._create, self._close, self._most = create, close, most
        # The client used last comes last.
        self._held: OrderedDict[Place, _Held[C]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._held)

    @asynccontextmanager
    async def borrowed(self, place: Place) -> AsyncIterator[C]:
        """Yield a client that is not closed during the block."""
        held = self._held.get(place)
        if held is None:
            held = self._held[place] = _Held(self._create(place))
        self._held.move_to_end(place)
        held.requests += 1
        try:
            if len(self._held) > self._most:
                await self._close_unused()
            yield held.client
        finally:
            held.requests -= 1

    async def close(self) -> None:
        while self._held:
            _, held = self._held.popitem()
            await self._close(held.client)

    async def _close_unused(self) -> None:
        unused = [place for place, held in self._held.items() if held.requests == 0]
        # Removed before anything is awaited: another task may borrow one of them meanwhile.
        removed = [self._held.pop(place) for place in unused[: len(self._held) - self._most]]
        for held in removed:
            await self._close(held.client)
