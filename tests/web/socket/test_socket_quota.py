"""The quota of a user's open sockets: counted across processes, freed by closing and by the death of a process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
import pytest_asyncio
from django.contrib.auth.models import User
from knox.models import AuthToken
from websockets.exceptions import ConnectionClosed

from chat.infrastructure import redis_client
from chat.infrastructure.redis_client import async_redis, close_async_redis, sync_redis
from chat.infrastructure.socket_registry import SocketRegistry, registry_key
from tests import factories, sockets

pytestmark = pytest.mark.django_db(transaction=True)


@pytest_asyncio.fixture
async def address() -> AsyncIterator[str]:
    sync_redis().flushdb()
    async with sockets.web() as address:
        yield address


@pytest.fixture
def alice(transactional_db: None) -> User:
    return User.objects.create_user("alice")


@pytest.fixture
def token(alice: User) -> dict[str, str]:
    return {"Authorization": f"Token {AuthToken.objects.create(alice)[1]}"}


async def opened(stack: AsyncExitStack, address: str, token: dict[str, str]) -> sockets.Client:
    """A socket that answers."""
    client = await stack.enter_async_context(sockets.socket(address, **token))
    assert await client.ask(type="ping") == {"type": "pong"}
    return client


async def is_admitted(client: sockets.Client) -> bool:
    try:
        return (await client.ask(type="ping"))["type"] == "pong"
    except ConnectionClosed:
        assert client.connection.close_code == 4430
        return False


async def until_admitted(address: str, token: dict[str, str]) -> None:
    """Try again until the server admits one more socket."""
    async with asyncio.timeout(sockets.LIMIT_S):
        while True:
            async with sockets.socket(address, **token) as client:
                if await is_admitted(client):
                    return
            await asyncio.sleep(0.05)


async def test_one_more_is_told_why_and_closed_until_one_is_closed(
    address: str, alice: User, token: dict[str, str], settings: Any
) -> None:
    settings.MAX_SOCKETS_PER_USER = 2
    async with AsyncExitStack() as stack:
        first = await opened(stack, address, token)
        await opened(stack, address, token)
        async with sockets.socket(address, **token) as refused:
            error = await refused.next()
            assert (error["type"], error["code"], error["max"]) == ("error", "too_many_sockets", 2)
            assert await refused.close_code() == 4430
        assert await first.ask(type="ping") == {"type": "pong"}
        await first.connection.close()
        await until_admitted(address, token)


async def test_sockets_opened_side_by_side_are_no_more_than_allowed(
    address: str, alice: User, token: dict[str, str], settings: Any
) -> None:
    settings.MAX_SOCKETS_PER_USER = 3
    async with AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(sockets.socket(address, **token)) for _ in range(8)]
        admitted = await asyncio.gather(*(is_admitted(client) for client in clients))
        assert sorted(admitted) == [False] * 5 + [True] * 3


async def test_others_are_not_counted_and_0_is_no_limit(
    address: str, alice: User, token: dict[str, str], settings: Any, transactional_db: None
) -> None:
    bob = await asyncio.to_thread(lambda: AuthToken.objects.create(User.objects.create_user("bob"))[1])
    settings.MAX_SOCKETS_PER_USER = 1
    async with AsyncExitStack() as stack:
        await opened(stack, address, token)
        await opened(stack, address, {"Authorization": f"Token {bob}"})
        settings.MAX_SOCKETS_PER_USER = 0
        await opened(stack, address, token)


async def test_sockets_of_a_process_that_died_expire_and_those_of_a_living_one_are_renewed(
    db: None, alice: User, settings: Any
) -> None:
    settings.MAX_SOCKETS_PER_USER = 2
    sync_redis().flushdb()
    dead, living = SocketRegistry(), SocketRegistry()
    try:
        gone, kept = await dead.admit(alice.pk), await living.admit(alice.pk)
        assert gone
        assert kept
        await dead.close()  # renews no longer and releases nothing
        assert await living.admit(alice.pk) is None
        key = registry_key(alice.pk)
        # As long after their last renewal as entries live.
        for entry in (gone, kept):
            await async_redis().zadd(key, {entry: 1})
        await living.renew()
        assert await living.admit(alice.pk)
        assert await async_redis().zscore(key, gone) is None
        assert await living.admit(alice.pk) is None
    finally:
        await living.close()
        await close_async_redis()


async def test_after_redis_was_emptied_open_sockets_count_again(db: None, alice: User, settings: Any) -> None:
    settings.MAX_SOCKETS_PER_USER = 1
    registry = SocketRegistry()
    try:
        assert await registry.admit(alice.pk)
        await async_redis().flushdb()
        await registry.renew()
        assert await registry.admit(alice.pk) is None
    finally:
        await registry.close()
        await close_async_redis()


async def test_without_redis_sockets_are_admitted_and_counted_later(
    db: None, alice: User, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync_redis().flushdb()
    there = settings.REDIS_URL
    settings.MAX_SOCKETS_PER_USER = 1
    registry = SocketRegistry()
    try:
        monkeypatch.setattr(redis_client, "_clients", {})
        settings.REDIS_URL = "redis://127.0.0.1:1/0"
        assert await registry.admit(alice.pk)
        assert await registry.admit(alice.pk)
        await close_async_redis()
        settings.REDIS_URL = there
        await registry.renew()
        assert await registry.admit(alice.pk) is None
    finally:
        await registry.close()
        await close_async_redis()


def test_open_sockets_are_reported_beside_their_limit(db: None, alice: User) -> None:
    sync_redis().flushdb()
    sync_redis().zadd(registry_key(alice.pk), {"expired": 1, "open": 4_000_000_000})
    rows = {row["code"]: row for row in factories.api_client(alice).get("/api/usage/limits/").json()}
    assert (rows["sockets"]["used"], rows["sockets"]["max"]) == (1, 500)
