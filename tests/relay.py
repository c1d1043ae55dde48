"""A TCP relay in front of Valkey: tests cut it to make Redis unavailable, without stopping the shared server."""

import asyncio
import contextlib
from urllib.parse import urlsplit

from django.conf import settings


class Relay:
    """Listens on a loopback port of its own. cut() closes every connection and refuses new ones until mend()."""

    def __init__(self) -> None:
        # Read here, because a test may later point the setting at the relay.
        self._target = urlsplit(settings.REDIS_URL)
        self._server: asyncio.Server | None = None
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0
        # While cleared, data from that side is held back.
        self.commands = asyncio.Event()
        self.replies = asyncio.Event()
        self.commands.set()
        self.replies.set()
        self._frozen: list[asyncio.Event] = []
        self.connections = 0

    @property
    def url(self) -> str:
        address = self._target
        credentials, _, _ = address.netloc.rpartition("@")
        at = f"{credentials}@" if credentials else ""
        return f"redis://{at}127.0.0.1:{self.port}{address.path if address.scheme == 'redis' else '/0'}"

    async def mend(self) -> None:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def freeze(self, *, next_too: bool = False) -> None:
        """Hold back all replies on the present connections, as a peer that hangs.

        next_too: also on those that are made until the next freeze(); otherwise new connections are served.
        """
        self._frozen.append(self.replies)
        self.replies.clear()
        self.replies = asyncio.Event()
        if not next_too:
            self.replies.set()

    async def accepts(self) -> None:
        """Wait until one more connection has been made."""
        before = self.connections
        while self.connections == before:  # noqa: ASYNC110
            await asyncio.sleep(0.01)

    async def cut(self) -> None:
        for frozen in self._frozen:
            frozen.set()
        if self._server:
            self._server.close()
            self._server = None
        for writer in list(self._writers):
            writer.transport.abort()
        while self._writers:  # noqa: ASYNC110
            await asyncio.sleep(0.001)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        address = self._target
        self.connections += 1
        if address.scheme == "unix":
            there, back = await asyncio.open_unix_connection(address.path)
        else:
            there, back = await asyncio.open_connection(address.hostname, address.port)
        self._writers |= {writer, back}
        try:
            await asyncio.gather(_pump(reader, back, self.commands), _pump(there, writer, self.replies))
        finally:
            for each in (writer, back):
                each.transport.abort()
                self._writers.discard(each)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, may_pass: asyncio.Event) -> None:
    with contextlib.suppress(ConnectionError, OSError):
        while data := await reader.read(65536):
            await may_pass.wait()
            writer.write(data)
            await writer.drain()
    writer.transport.abort()
