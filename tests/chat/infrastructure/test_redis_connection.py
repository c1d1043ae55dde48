"""A connection to Redis that the network resets while it is idle is a lost connection, on every event loop.

A task that is cancelled while it asks Redis ends, whatever the connection is doing at that moment.
"""

import asyncio
import errno
import uuid
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
import uvloop
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as ConnectionLost

from chat.infrastructure.redis_client import async_redis, close_async_redis, new_subscriber_connection
from chat.infrastructure.revocation import is_revoked
from chat.log.publisher import Publisher
from chat.log.stream import read, run_log
from chat.protocol import wire as p
from tests.faults.proxy import Proxy

Scene = Callable[[Proxy], Coroutine[Any, Any, None]]


@pytest.fixture
def proxy(settings: Any) -> Iterator[Proxy]:
    with Proxy.before(settings.REDIS_URL) as proxy:
        settings.REDIS_URL = proxy.url
        yield proxy


@pytest.fixture(params=[uvloop.new_event_loop, asyncio.new_event_loop], ids=["uvloop", "asyncio"])
def play(request: pytest.FixtureRequest, proxy: Proxy) -> Iterator[Callable[[Scene], None]]:
    """Runs a scene on an event loop of this kind."""

    async def with_clean_end(scene: Scene) -> None:
        try:
            await asyncio.wait_for(scene(proxy), 60)
        finally:
            await close_async_redis()

    with asyncio.Runner(loop_factory=request.param) as runner:
        yield lambda scene: runner.run(with_clean_end(scene))


async def reset(proxy: Proxy) -> None:
    """Reset every connection; return when this process's sockets have heard of it."""
    assert await asyncio.to_thread(proxy.reset)
    await asyncio.sleep(0.1)


def test_a_command_is_sent_again_on_another_connection(play: Callable[[Scene], None]) -> None:
    async def scene(proxy: Proxy) -> None:
        assert not await is_revoked(uuid.uuid4(), uuid.uuid4())
        await reset(proxy)
        assert not await is_revoked(uuid.uuid4(), uuid.uuid4())
        await reset(proxy)
        async with async_redis().pipeline(transaction=True) as pipe:
            pipe.get("turnwire:absent")
            assert await pipe.execute() == [None]

    play(scene)


def test_a_bare_connection_tells_that_it_is_lost(play: Callable[[Scene], None]) -> None:
    async def scene(proxy: Proxy) -> None:
        connection = new_subscriber_connection()
        await connection.connect()
        await reset(proxy)
        with pytest.raises((ConnectionLost, OSError)):
            await subscribe(connection)
        await connection.disconnect(nowait=True)

    play(scene)


def test_packets_after_the_reset_are_in_the_log(play: Callable[[Scene], None]) -> None:
    async def scene(proxy: Proxy) -> None:
        publisher = Publisher(async_redis())
        await publisher.start()
        address = p.RunAddress(session=str(uuid.uuid4()), run=str(uuid.uuid4()), attempt=1)
        producer = publisher.open(address, on_stale=lambda: None)
        producer.emit(p.Placement(), p.MessageStart())
        await producer.flush()
        await reset(proxy)
        producer.emit(p.Placement(), p.MessageDelta(text="after it"))
        await producer.flush()
        found = await read(run_log(address.session, address.run))
        assert b"after it" in found.lines[-1][1]
        await publisher.close()

    play(scene)


def test_a_task_that_is_cancelled_at_any_step_of_a_command_ends(play: Callable[[Scene], None]) -> None:
    async def scene(_proxy: Proxy) -> None:
        await async_redis().set("turnwire:present", "1")
        for steps in range(12):
            task = asyncio.create_task(ask_until_cancelled())
            for _ in range(steps):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait([task], timeout=10)
            assert task.cancelled(), steps
        assert await async_redis().get("turnwire:present") == b"1"

    async def ask_until_cancelled() -> None:
        for _ in range(1000):
            await async_redis().get("turnwire:present")

    play(scene)


def test_a_task_that_is_cancelled_while_its_command_fails_to_be_sent_ends(
    play: Callable[[Scene], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(_proxy: Proxy) -> None:
        connection = async_redis().connection_pool.make_connection()
        for steps in range(6):
            await connection.connect()
            monkeypatch.setattr(connection._writer, "writelines", _lose)
            task = asyncio.create_task(connection.send_command("PING", check_health=False))
            for _ in range(steps):
                await asyncio.sleep(0)
            is_cancelled = task.cancel()
            await asyncio.wait([task])
            assert task.cancelled() if is_cancelled else isinstance(task.exception(), ConnectionLost), steps
        await connection.disconnect(nowait=True)

    play(scene)


def test_a_limit_that_ends_while_a_command_is_sent_is_a_timeout(play: Callable[[Scene], None]) -> None:
    async def scene(_proxy: Proxy) -> None:
        for _ in range(12):
            with pytest.raises(TimeoutError):
                await ask_for(0.01)

    async def ask_for(seconds: float) -> None:
        async with asyncio.timeout(seconds):
            for _ in range(10_000):
                await async_redis().get("turnwire:absent")

    play(scene)


def test_what_a_cancelled_task_still_sends_is_sent(play: Callable[[Scene], None]) -> None:
    async def scene(_proxy: Proxy) -> None:
        task = asyncio.create_task(set_at_the_end())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
        assert await async_redis().get("turnwire:ended") == b"1"

    async def set_at_the_end() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await async_redis().set("turnwire:ended", "1", ex=60)

    play(scene)


def test_another_runtime_error_stays_what_it_is(
    play: Callable[[Scene], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(_proxy: Proxy) -> None:
        connection = new_subscriber_connection()
        await connection.connect()
        monkeypatch.setattr(connection._writer, "writelines", _fail)
        with pytest.raises(RuntimeError, match="a fault of the program"):
            await connection.send_command("PING", check_health=False)

    play(scene)


async def subscribe(connection: AbstractConnection) -> None:
    await connection.send_command("SUBSCRIBE", "anything", check_health=False)
    await connection.read_response()


def _fail(_command: object) -> None:
    raise RuntimeError("a fault of the program")


def _lose(_command: object) -> None:
    raise BrokenPipeError(errno.EPIPE, "Broken pipe")
