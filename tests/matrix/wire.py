"""A web server in a thread of the test process, and a socket that judges every frame it receives."""

import asyncio
import json
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Queue
from typing import Any

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

from tests import sockets
from tests.matrix import asyncapi
from tests.matrix.subjects import Identity


class Closed(Exception):
    def __init__(self, code: int | None) -> None:
        super().__init__(code)
        self.code = code


@contextmanager
def web() -> Iterator[str]:
    """Yields the address, "127.0.0.1:port"."""
    addresses: Queue[str | BaseException] = Queue()
    stopping: list[Any] = []

    async def serve() -> None:
        try:
            async with sockets.web() as address:
                ended = asyncio.Event()
                stopping.append((asyncio.get_running_loop(), ended))
                addresses.put(address)
                await ended.wait()
        except BaseException as error:
            addresses.put(error)
            raise

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="web")
    thread.start()
    address = addresses.get(timeout=sockets.LIMIT_S)
    if isinstance(address, BaseException):
        raise address
    try:
        yield address
    finally:
        loop, ended = stopping[0]
        loop.call_soon_threadsafe(ended.set)
        thread.join(sockets.LIMIT_S)


class Wire:
    """faults: of all frames received, what was not as described. seen: all objects received."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._unread: deque[dict[str, Any]] = deque()
        self.faults: list[str] = []
        self.seen: list[dict[str, Any]] = []

    def send(self, frame: str | bytes, *, is_text: bool | None = None) -> None:
        """Ignored if the server has closed: what it said is read by next()."""
        with suppress(ConnectionClosed):
            self._connection.send(frame, text=is_text)

    def say(self, **command: Any) -> None:
        self.send(json.dumps(command))

    def next(self) -> dict[str, Any]:
        """Raises Closed."""
        while not self._unread:
            try:
                frame = self._connection.recv(sockets.LIMIT_S)
            except ConnectionClosed:
                raise Closed(self._connection.close_code) from None
            self._take(frame)
        return self._unread.popleft()

    def _take(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            self.faults.append("a binary frame")
            return
        for line in frame.split("\n"):
            found = json.loads(line)
            self.faults += asyncapi.faults(found)
            self.seen.append(found)
            self._unread.append(found)

    def reply(self) -> dict[str, Any]:
        """The next object that answers a command. Raises Closed."""
        while (found := self.next())["type"] not in asyncapi.replies():
            pass
        return found

    def ask(self, **command: Any) -> dict[str, Any]:
        self.say(**command)
        return self.reply()

    def close_code(self) -> int | None:
        """Read until the server has closed."""
        try:
            while True:
                self.next()
        except Closed as closed:
            return closed.code

    def close(self) -> None:
        self._connection.close()


@contextmanager
def opened(address: str, identity: Identity) -> Iterator[Wire]:
    """Not compressed: a client's frames are as long as they are written."""
    with connect(
        f"ws://{address}/ws/",
        additional_headers=_headers(address, identity),
        proxy=None,
        compression=None,
        max_size=None,
    ) as connection:
        yield Wire(connection)


def _headers(address: str, identity: Identity) -> dict[str, str]:
    headers = dict(identity.headers)
    if identity.cookies:
        headers["Cookie"] = "; ".join(f"{name}={value}" for name, value in identity.cookies.items())
        headers["Origin"] = f"http://{address}"
    return headers
