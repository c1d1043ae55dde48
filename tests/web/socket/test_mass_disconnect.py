"""Sockets that all close in one moment, as when a network or a proxy goes away, stop counting at once."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any, Final

import pytest
from django.contrib.auth.models import User
from knox.models import AuthToken
from websockets.asyncio.client import ClientConnection, connect

from chat.infrastructure import socket_registry
from chat.infrastructure.redis_client import close_async_redis, sync_redis
from chat.infrastructure.socket_registry import SocketRegistry, registry_key
from tests import sockets

pytestmark = pytest.mark.django_db(transaction=True)

USERS: Final = 40
LIMIT: Final = 50
AT_ONCE: Final = 50


@pytest.fixture(autouse=True)
def limit(settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No place becomes free by expiry, and no socket is admitted uncounted because the machine is slow."""
    settings.MAX_SOCKETS_PER_USER = LIMIT
    monkeypatch.setattr(socket_registry, "TTL_S", 3600)
    monkeypatch.setattr(socket_registry, "ADMISSION_TIMEOUT_S", 3600)
    sync_redis().flushdb()


def open_sockets(users: list[int]) -> int:
    return sum(sync_redis().zcard(registry_key(user)) for user in users)


async def until_none_counts(users: list[int]) -> None:
    async with asyncio.timeout(sockets.LIMIT_S):
        while await asyncio.to_thread(open_sockets, users):  # noqa: ASYNC110  asks Redis
            await asyncio.sleep(0.01)


async def test_places_are_counted_and_freed_however_many_change_at_once(caplog: Any) -> None:
    registry, users = SocketRegistry(), list(range(1, USERS + 1))
    try:
        for _ in range(2):
            entries = await asyncio.gather(*(registry.admit(user) for user in users for _ in range(LIMIT)))
            assert all(entries)
            assert await asyncio.gather(*map(registry.admit, users)) == [None] * USERS
            for entry in entries:
                registry.release(entry)
            await until_none_counts(users)
    finally:
        await registry.close()
        await close_async_redis()
    assert caplog.messages == []


class Crowd:
    """As many sockets of each user as are allowed."""

    def __init__(self, address: str, tokens: list[str]) -> None:
        self.url = f"ws://{address}/ws/"
        self.tokens = tokens
        self.connections: list[ClientConnection] = []

    async def open(self) -> None:
        """Return when each socket has answered. Raises ConnectionClosed if one is refused."""
        wanted = [token for token in self.tokens for _ in range(LIMIT)]
        for start in range(0, len(wanted), AT_ONCE):
            await asyncio.gather(*map(self._open, wanted[start : start + AT_ONCE]))

    async def _open(self, token: str) -> None:
        connection = await connect(
            self.url, additional_headers={"Authorization": f"Token {token}"}, proxy=None, ping_interval=None
        )
        self.connections.append(connection)
        assert await sockets.Client(connection).ask(type="ping") == {"type": "pong"}

    def vanish(self) -> None:
        """Close all without a close frame."""
        for connection in self.connections:
            connection.transport.abort()
        self.connections.clear()


@pytest.mark.full
@pytest.mark.timeout(300)
async def test_each_user_opens_as_many_again_after_2000_sockets_closed_at_once(caplog: Any) -> None:
    users = await asyncio.to_thread(lambda: [User.objects.create_user(f"user{n}") for n in range(USERS)])
    tokens = await asyncio.to_thread(lambda: [AuthToken.objects.create(user)[1] for user in users])
    async with AsyncExitStack() as stack:
        crowd = Crowd(await stack.enter_async_context(sockets.web()), tokens)
        stack.callback(crowd.vanish)
        await crowd.open()
        crowd.vanish()
        await until_none_counts([user.pk for user in users])
        await crowd.open()
        assert await asyncio.to_thread(open_sockets, [user.pk for user in users]) == USERS * LIMIT
    assert caplog.messages == []
