"""Stopping from any process: the key stays, the control channel wakes, and a lost connection comes back."""

import asyncio
import uuid

import pytest_asyncio

from chat.infrastructure import revocation
from chat.infrastructure.redis_client import async_redis, close_async_redis, sync_redis
from chat.infrastructure.revocation import RevocationListener, is_revoked, revoke
from tests.relay import Relay


@pytest_asyncio.fixture
async def relay(settings):
    # Both clients exist before the address changes: only the listener goes through the relay.
    async_redis()
    sync_redis()
    relay = Relay()
    await relay.mend()
    settings.REDIS_URL = relay.url
    yield relay
    await relay.cut()
    await close_async_redis()


async def test_a_revoked_run_is_told_at_once_and_known_later(relay):
    received: asyncio.Queue[str] = asyncio.Queue()
    listener = RevocationListener(received.put_nowait)
    await listener.start()
    session, run = uuid.uuid4(), uuid.uuid4()
    assert not await is_revoked(session, run)
    await asyncio.to_thread(revoke, session, run)
    assert await asyncio.wait_for(received.get(), 30) == str(run)
    assert await is_revoked(session, run)
    assert not await is_revoked(session, uuid.uuid4())
    await listener.close()


async def test_after_a_lost_connection_the_worker_is_told_to_look_again(relay):
    received: asyncio.Queue[str] = asyncio.Queue()
    listener = RevocationListener(received.put_nowait, lambda: received.put_nowait("look again"))
    await listener.start()
    await relay.cut()
    await relay.mend()
    assert await asyncio.wait_for(received.get(), 30) == "look again"
    run = uuid.uuid4()
    await asyncio.to_thread(revoke, uuid.uuid4(), run)
    assert await asyncio.wait_for(received.get(), 30) == str(run)
    await listener.close()


async def test_a_connection_whose_peer_hangs_is_replaced(relay, monkeypatch):
    monkeypatch.setattr(revocation, "PING_EVERY_S", 0.2)
    received: asyncio.Queue[str] = asyncio.Queue()
    listener = RevocationListener(received.put_nowait, lambda: received.put_nowait("look again"))
    await listener.start()
    # One that answers stays.
    await asyncio.sleep(1)
    assert received.empty()
    # The next connection hangs in its handshake.
    relay.freeze(next_too=True)
    await relay.accepts()
    relay.freeze()
    assert await asyncio.wait_for(received.get(), 30) == "look again"
    run = uuid.uuid4()
    await asyncio.to_thread(revoke, uuid.uuid4(), run)
    assert await asyncio.wait_for(received.get(), 30) == str(run)
    await listener.close()
