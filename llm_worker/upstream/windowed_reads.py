"""Reads a streamed answer once per flush window; between reads its bytes wait in the kernel's socket buffer.

An event loop that wakes for every token of a hundred streams spends more on waking than on the tokens. Under load the
response's transport is paused; when a window opens, its socket is read once and the bytes are passed to the
transport's protocol, as the transport itself would do.
"""

import asyncio
import os
from typing import Final

import aiohttp

# Many windows of tokens. If a server sends more in one window, the transport reads it and applies back-pressure.
PIECE_BYTES: Final = 64 * 1024


class WindowedReads:
    """The reads of one response, on its event loop; must not be used after the end of the response."""

    def __init__(self, transport: asyncio.Transport, protocol: asyncio.Protocol) -> None:
        self._transport = transport
        self._protocol = protocol
        self._descriptor = transport.get_extra_info("socket").fileno()
        self._is_gathering = False
        self._is_fast = False

    @classmethod
    def for_response(cls, answered: aiohttp.ClientResponse) -> "WindowedReads | None":
        """Return the reads of a response; None if it is complete, or with TLS: the socket holds encrypted bytes."""
        connection = answered.connection
        if connection is None or connection.transport is None or connection.protocol is None:
            return None
        if connection.transport.get_extra_info("sslcontext"):
            return None
        return cls(connection.transport, connection.protocol)

    def pause(self) -> None:
        """Stop the transport from reading, unless the previous read was full."""
        if self._is_fast:
            self._is_fast = False
        else:
            self._transport.pause_reading()
            self._is_gathering = True

    def read_gathered(self) -> None:
        """Read the socket once."""
        # The descriptor of a closing transport may be reused already.
        if not self._is_gathering or self._transport.is_closing():
            return
        self._is_gathering = False
        try:
            come = os.read(self._descriptor, PIECE_BYTES)
        except OSError:
            return  # nothing received; or the connection is broken, which the transport reports
        self._is_fast = len(come) == PIECE_BYTES
        if come:
            self._protocol.data_received(come)

    def resume(self) -> None:
        """Let the transport read again: the caller waits for the next byte or the end."""
        self._transport.resume_reading()
