"""One request to the ASGI application in this process, by a client that ends in a given way."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any


class AsgiRequest:
    """takes: how many messages of the response the client takes; then it reads nothing. None: all.  body: of a POST."""

    def __init__(
        self, path: str, headers: dict[str, str], takes: int | None = None, body: bytes | None = None
    ) -> None:
        self._body = body
        if body is not None:
            headers = {**headers, "Content-Type": "application/json", "Content-Length": str(len(body))}
        self._path, _, self._query = path.partition("?")
        self._headers = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
        self._takes = takes
        self._is_asked = False
        self._gone = asyncio.Event()
        self.stalled = asyncio.Event()
        self.messages: list[dict[str, Any]] = []

    @property
    def status(self) -> int:
        return int(self.messages[0]["status"])

    def leave(self) -> None:
        """Close the connection."""
        self._gone.set()

    async def run(self) -> None:
        """Return when the application has ended. Raises what it raises."""
        from config.asgi import application

        scope = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "scheme": "http",
            "method": "GET" if self._body is None else "POST",
            "path": self._path, "raw_path": self._path.encode(), "query_string": self._query.encode(),
            "root_path": "", "headers": [(b"host", b"localhost"), *self._headers],
            "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80),
        }  # fmt: skip
        await application(scope, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        if not self._is_asked:
            self._is_asked = True
            return {"type": "http.request", "body": self._body or b"", "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: dict[str, Any]) -> None:
        if self._takes is not None and len(self.messages) >= self._takes:
            self.stalled.set()
            await self._gone.wait()
        self.messages.append(message)


@contextlib.asynccontextmanager
async def stalled(request: AsgiRequest) -> AsyncIterator[None]:
    """While the client does not read; it leaves afterwards."""
    running = asyncio.create_task(request.run())
    waiting = asyncio.create_task(request.stalled.wait())
    try:
        await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
        assert request.stalled.is_set(), request.messages
        yield
    finally:
        waiting.cancel()
        request.leave()
        await running
