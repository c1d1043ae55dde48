"""A TCP proxy in a thread of its own, to break the network between two processes on purpose.

    with Proxy.before(redis_url) as proxy:
        start(REDIS_URL=proxy.url)       # the same address, through the proxy
        proxy.blackhole()                # nothing arrives, nothing closes: a cut cable
        proxy.blackhole(TO_SERVER)       # one direction only
        proxy.delay(0.2, TO_CLIENT)
        proxy.heal()                     # what was held back arrives now, in order

Its methods belong to the test's thread and have taken effect when they return. It knows no protocol.
"""

import asyncio
import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any, Final, Self
from urllib.parse import parse_qs, parse_qsl, urlencode, urlsplit

TO_SERVER: Final = "to_server"
TO_CLIENT: Final = "to_client"
BOTH: Final = (TO_SERVER, TO_CLIENT)
DEFAULT_PORTS: Final = {"http": 80, "redis": 6379, "postgres": 5432, "postgresql": 5432}
CHUNK_BYTES: Final = 64 * 1024
# How far a held-back direction reads ahead of what it forwards: as a kernel's buffers would.
MAX_HELD_CHUNKS: Final = 16


@dataclass
class Line:
    """One direction's condition. Applies to every connection, old and new."""

    held: bool = False
    discarding: bool = False
    delay_s: float = 0.0
    bytes_per_s: float | None = None
    forwarded_bytes: int = 0
    discarded: bytearray = field(default_factory=bytearray)


@dataclass(eq=False)
class Link:
    """One client's connection and the one made for it."""

    client: asyncio.StreamWriter
    server: asyncio.StreamWriter | None = None
    tasks: list[asyncio.Task[None]] = field(default_factory=list)


class Proxy:
    """Forwards what connects to `port` on loopback to the target: (host, port), or the path of a Unix socket."""

    def __init__(self, target: tuple[str, int] | str, url: str = "") -> None:
        self.target = target
        self.port = 0
        self.lines = {direction: Line() for direction in BOTH}
        self.accepted = 0
        self._url = url
        self._links: set[Link] = set()
        self._server: asyncio.Server | None = None
        self._changed: asyncio.Condition
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True, name="proxy")

    @classmethod
    def before(cls, url: str) -> Self:
        """What a URL leads to: http, redis, or postgresql, also with a directory of sockets as its host."""
        parts = urlsplit(url)
        (directory,) = parse_qs(parts.query).get("host", [""])
        if directory:
            return cls(f"{directory}/.s.PGSQL.{parts.port or 5432}", url)
        return cls((parts.hostname or "127.0.0.1", parts.port or DEFAULT_PORTS[parts.scheme]), url)

    @property
    def url(self) -> str:
        """The URL given to before(), through this proxy."""
        parts = urlsplit(self._url)
        login, at, _ = parts.netloc.rpartition("@")
        query = [(name, value) for name, value in parse_qsl(parts.query) if name != "host"]
        return parts._replace(netloc=f"{login}{at}127.0.0.1:{self.port}", query=urlencode(query)).geturl()

    def __enter__(self) -> Self:
        self._thread.start()
        self._call(self._open)
        return self

    def __exit__(self, *_: object) -> None:
        self._call(self._close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)
        self._loop.close()

    # What a test breaks

    def blackhole(self, *directions: str) -> None:
        """Hold everything back, ends included, until heal(). New connections are accepted and hear nothing."""
        self._set(directions, held=True)

    def discard(self, *directions: str) -> None:
        """Read and throw away. Breaks whatever stream is in it, unless whole messages fall into the gap."""
        self._set(directions, discarding=True)

    def has_discarded(self, what: bytes, direction: str, times: int = 1) -> bool:
        return bytes(self.lines[direction].discarded).count(what) >= times

    def delay(self, seconds: float, *directions: str) -> None:
        """Every byte arrives that much later; the order is kept."""
        self._set(directions, delay_s=seconds)

    def throttle(self, bytes_per_s: float, *directions: str) -> None:
        """Per connection."""
        self._set(directions, bytes_per_s=bytes_per_s)

    def reset(self) -> int:
        """Break every connection with RST; returns how many. New ones are welcome."""
        return self._call(self._reset)

    def refuse(self) -> None:
        """Refuse new connections; those that exist stay."""
        self._call(self._stop_listening)

    def heal(self) -> None:
        """Everything works again, on the same port; what was held back arrives."""
        self._set((), held=False, discarding=False, delay_s=0.0, bytes_per_s=None)
        self._call(self._listen)

    @property
    def connections(self) -> int:
        return self._call(self._count)

    # On the loop

    def _call(self, function: Callable[..., Any], *arguments: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(function(*arguments), self._loop).result(30)

    def _set(self, directions: Collection[str], **condition: Any) -> None:
        self._call(self._apply, directions or BOTH, condition)

    async def _apply(self, directions: Collection[str], condition: dict[str, Any]) -> None:
        for direction in directions:
            for name, value in condition.items():
                setattr(self.lines[direction], name, value)
        async with self._changed:
            self._changed.notify_all()

    async def _open(self) -> None:
        self._changed = asyncio.Condition()
        await self._listen()

    async def _listen(self) -> None:
        if self._server is None:
            self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port, backlog=1024)
            self.port = self._server.sockets[0].getsockname()[1]

    async def _stop_listening(self) -> None:
        if self._server:
            self._server.close()
            self._server = None

    async def _close(self) -> None:
        await self._stop_listening()
        await self._reset()
        # What was cancelled while it was clearing up after being cancelled, and connections that came meanwhile: the
        # loop tells the server of an accepted connection two turns later.
        idle_turns = 0
        while idle_turns < 3:
            left = asyncio.all_tasks() - {asyncio.current_task()}
            for task in left:
                task.cancel()
            await asyncio.gather(*left, asyncio.sleep(0), return_exceptions=True)
            idle_turns = 0 if left else idle_turns + 1

    async def _count(self) -> int:
        return len(self._links)

    async def _reset(self) -> int:
        links = list(self._links)
        for link in links:
            _abort(link.client)
            _abort(link.server)
            for task in link.tasks:
                task.cancel()
        for link in links:
            await asyncio.gather(*link.tasks, return_exceptions=True)
        self._links.clear()
        return len(links)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        link = Link(writer)
        self._links.add(link)
        link.tasks.append(asyncio.current_task())
        try:
            # A cut cable carries no SYN either: the server hears of the connection when it is healed.
            await self._until_open(self.lines[TO_SERVER])
            server_reader, link.server = await self._connect()
            await self._forward_both(link, reader, server_reader)
        except (OSError, asyncio.CancelledError):
            _abort(writer)
            _abort(link.server)
        finally:
            self._links.discard(link)

    async def _connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if isinstance(self.target, str):
            return await asyncio.open_unix_connection(self.target)
        return await asyncio.open_connection(*self.target)

    async def _forward_both(
        self, link: Link, from_client: asyncio.StreamReader, from_server: asyncio.StreamReader
    ) -> None:
        ways = [
            asyncio.create_task(self._forward(from_client, link.server, self.lines[TO_SERVER])),
            asyncio.create_task(self._forward(from_server, link.client, self.lines[TO_CLIENT])),
        ]
        link.tasks += ways
        try:
            await asyncio.gather(*ways)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
        link.client.close()
        link.server.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, line: Line) -> None:
        """One direction of one connection, to its end. Reading goes on while what was read waits its delay."""
        held: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue(MAX_HELD_CHUNKS)
        reading = asyncio.create_task(_read(reader, held, line))
        try:
            while True:
                due_at, chunk = await held.get()
                await self._until_due(due_at, line)
                await self._until_open(line)
                if not chunk:
                    break
                if line.discarding:
                    line.discarded += chunk
                else:
                    await _write(writer, chunk, line)
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        with contextlib.suppress(OSError):
            writer.write_eof()

    async def _until_due(self, due_at: float, line: Line) -> None:
        """Sleeps off the delay, or until heal() takes it away."""
        async with self._changed:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(max(0.0, due_at - time.monotonic())):
                    await self._changed.wait_for(lambda: line.delay_s == 0)

    async def _until_open(self, line: Line) -> None:
        async with self._changed:
            await self._changed.wait_for(lambda: not line.held)


async def _read(reader: asyncio.StreamReader, held: asyncio.Queue[tuple[float, bytes]], line: Line) -> None:
    while True:
        try:
            chunk = await reader.read(CHUNK_BYTES)
        except ConnectionError:
            chunk = b""
        await held.put((time.monotonic() + line.delay_s, chunk))
        if not chunk:
            return


async def _write(writer: asyncio.StreamWriter, chunk: bytes, line: Line) -> None:
    """At the line's pace, in pieces of a tenth of a second."""
    while chunk:
        pace = line.bytes_per_s
        size = len(chunk) if pace is None else max(1, int(pace / 10))
        piece, chunk = chunk[:size], chunk[size:]
        writer.write(piece)
        await writer.drain()
        line.forwarded_bytes += len(piece)
        if pace is not None:
            await asyncio.sleep(len(piece) / pace)


def _abort(writer: asyncio.StreamWriter | None) -> None:
    """RST instead of FIN."""
    if writer is None:
        return
    connection = writer.get_extra_info("socket")
    if connection is not None and connection.fileno() >= 0:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()
