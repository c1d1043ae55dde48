"""Runs uvicorn on a loopback port inside the test process, and a websocket client that reads it line by line."""

import asyncio
import json
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import uvicorn
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

LIMIT_S = 60


@asynccontextmanager
async def web() -> AsyncIterator[str]:
    """Run the web server in the test's event loop; yields its address, "127.0.0.1:port"."""
    from chat.infrastructure.redis_client import close_async_redis
    from config.asgi import application
    from web.socket.hub import current_hub

    config = uvicorn.Config(
        application,
        port=0,
        ws="config.websocket:WebSocket",
        ws_per_message_deflate=False,
        ws_max_size=262144,
        lifespan="off",
        log_level="error",
        timeout_graceful_shutdown=5,
    )
    server = uvicorn.Server(config)
    server.install_signal_handlers = lambda: None
    serving = asyncio.create_task(server.serve())
    while not server.started and not serving.done():  # noqa: ASYNC110  uvicorn has no event for it
        await asyncio.sleep(0.005)
    if serving.done():
        raise RuntimeError("the web server did not start") from serving.exception()
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.should_exit = True
        await serving
        await current_hub().close()
        await close_async_redis()


class Client:
    """A websocket client. `seen` contains every object read, oldest first."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self.seen: list[dict[str, Any]] = []
        self._unread: deque[dict[str, Any]] = deque()

    async def say(self, **command: Any) -> None:
        await self.connection.send(json.dumps(command))

    async def next(self) -> dict[str, Any]:
        """The next object. Raises ConnectionClosed once the server has closed."""
        while not self._unread:
            frame = await asyncio.wait_for(self.connection.recv(), LIMIT_S)
            assert isinstance(frame, str)
            self._unread.extend(json.loads(line) for line in frame.split("\n"))
        self.seen.append(self._unread.popleft())
        return self.seen[-1]

    async def until(self, condition: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        while not condition(found := await self.next()):
            pass
        return found

    async def ask(self, **command: Any) -> dict[str, Any]:
        """Send a command and return the next object that is not part of the stream."""
        await self.say(**command)
        return await self.until(
            lambda one: one["type"] not in ("packet", "heartbeat", "queued", "turn_started")
        )

    async def close_code(self) -> int:
        """Read until the server has closed."""
        try:
            while True:
                await self.next()
        except ConnectionClosed:
            return self.connection.close_code


@asynccontextmanager
async def socket(address: str, path: str = "/ws/", **headers: str) -> AsyncIterator[Client]:
    async with connect(f"ws://{address}{path}", additional_headers=headers, proxy=None) as connection:
        yield Client(connection)
