"""A uvicorn websocket protocol that spreads reconnections and writes text frames directly; the Procfile selects it.

At shutdown each client receives a close reason with its own reconnect delay, so that clients do not reconnect all at
once. Text messages, nearly all that is sent, are framed here instead of by the websockets library, which is faster.
"""

import random
import struct
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

# The rate of new sockets that one process accepts without delaying its other sockets.
SOCKETS_PER_S: Final = 500
SHORTEST_S: Final = 0.1
# The smallest spread: even a few clients restore many subscriptions.
SPREAD_S: Final = 0.4
# The first byte of an unfragmented text frame without extensions.
TEXT: Final = 0x81


class WebSocket(WebSocketsSansIOProtocol):
    async def send(self, message: Any) -> None:
        text = message.get("text")
        if text is None or not self._is_plainly_open():
            await super().send(message)
        else:
            self.transport.write(frame(text.encode()))

    def _is_plainly_open(self) -> bool:
        """Whether a text frame may be written directly. In every other state uvicorn's send() decides."""
        is_open = self.handshake_complete and not (self.close_sent or self.disconnected)
        return (
            is_open and self.writable.is_set() and self.conn.state is State.OPEN and not self.conn.extensions
        )

    def shutdown(self) -> None:
        """Close the socket with code 1012; uvicorn calls this for every open socket at shutdown."""
        send_close = self.conn.send_close
        reason = restart_reason(len(self.connections), random.random())  # noqa: S311  spreads load, hides nothing
        self.conn.send_close = lambda code: send_close(code, reason)  # type: ignore[method-assign, assignment, misc]
        super().shutdown()


def frame(payload: bytes) -> bytes:
    """Encode a text frame as a server sends it (RFC 6455, section 5.2): shortest length encoding, no mask."""
    size = len(payload)
    if size < 126:
        return struct.pack("!BB", TEXT, size) + payload
    if size < 65_536:
        return struct.pack("!BBH", TEXT, 126, size) + payload
    return struct.pack("!BBQ", TEXT, 127, size) + payload


def restart_reason(sockets: int, chance: float) -> str:
    """The close reason, with a reconnect delay. sockets: how many close together. chance: this socket's random number, 0 to 1."""
    pause_s = SHORTEST_S + chance * max(SPREAD_S, sockets / SOCKETS_PER_S)
    return f"restart; retry_after_s={pause_s:.2f}"
