"""Reads a streamed answer in windows: what comes between them, the kernel gathers.

A loop that is woken for every word of a hundred streams spends more on waking and reading than on the words. So under
load a response's transport does not read; when a window opens, its socket is read once, here, and what came is given
to the transport's protocol, as the transport would have done.
"""

import asyncio
import os
from typing import Final

import aiohttp

# Many windows' words. Who sends more in one is read by the transport, which knows when to hold it back.
PIECE_BYTES: Final = 64 * 1024


class WindowedReads:
    """Of one response, on its event loop; to be used only until the response is at its end."""

    def __init__(self, transport: asyncio.Transport, protocol: asyncio.Protocol) -> None:
        self._transport = transport
        self._protocol = protocol
        self._descriptor = transport.get_extra_info("socket").fileno()
        self._is_gathering = False
        self._comes_fast = False

    @classmethod
    def for_response(cls, answered: aiohttp.ClientResponse) -> "WindowedReads | None":
        """None: its bytes are not those of the socket, but decrypted; or all of it has come."""
        connection = answered.connection
        if connection is None or connection.transport is None or connection.protocol is None:
            return None
        if connection.transport.get_extra_info("sslcontext"):
            return None
        return cls(connection.transport, connection.protocol)

    def begin(self) -> None:
        """Leave what comes to the kernel, unless more came last time than one reading takes in."""
        if self._comes_fast:
            self._comes_fast = False
        else:
            self._transport.pause_reading()
            self._is_gathering = True

    def take_in(self) -> None:
        """Read once what was gathered."""
        # The descriptor of a transport that is closing may be somebody else's by now.
        if not self._is_gathering or self._transport.is_closing():
            return
        self._is_gathering = False
        try:
            come = os.read(self._descriptor, PIECE_BYTES)
        except OSError:
            return  # nothing has come; or the connection is broken, and its transport finds it at its end
        self._comes_fast = len(come) == PIECE_BYTES
        if come:
            self._protocol.data_received(come)

    def listen(self) -> None:
        """Let the transport read again: somebody waits for the next byte, or for the end."""
        self._transport.resume_reading()
