"""uvicorn's websocket, which at a restart tells each client when to come back. Named in the Procfile.

The pauses differ, so that not everybody knocks at once. A client that ignores them loses nothing. Texts, which are
nearly all that is sent, go out past the library's frames.
"""

import random
import struct
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

# What one process takes in without being late for anybody.
SOCKETS_PER_S: Final = 500
SHORTEST_S: Final = 0.1
# Spread even a few: each brings back all its subscriptions.
SPREAD_S: Final = 0.4


# The first byte of a whole text, without any extension.
TEXT: Final = 0x81


class WebSocket(WebSocketsSansIOProtocol):
    async def send(self, message: Any) -> None:
        text = message.get("text")
        if text is None or not self._is_plainly_open():
            await super().send(message)
        else:
            self.transport.write(frame(text.encode()))

    def _is_plainly_open(self) -> bool:
        """Whether a text may be written now, and as it is. Everything else is uvicorn's to decide."""
        is_open = self.handshake_complete and not (self.close_sent or self.disconnected)
        return (
            is_open and self.writable.is_set() and self.conn.state is State.OPEN and not self.conn.extensions
        )

    def shutdown(self) -> None:
        """Called by uvicorn for every open socket when it is told to end; closes it with 1012."""
        send_close = self.conn.send_close
        reason = restart_reason(len(self.connections), random.random())  # noqa: S311  spreads load, hides nothing
        self.conn.send_close = lambda code: send_close(code, reason)  # type: ignore[method-assign, assignment, misc]
        super().shutdown()


def frame(payload: bytes) -> bytes:
    """As a server sends it (RFC 6455, 5.2): its length in as few bytes as may be, and no mask."""
    size = len(payload)
    if size < 126:
        return struct.pack("!BB", TEXT, size) + payload
    if size < 65_536:
        return struct.pack("!BBH", TEXT, 126, size) + payload
    return struct.pack("!BBQ", TEXT, 127, size) + payload


def restart_reason(sockets: int, chance: float) -> str:
    """Why a socket is closed. sockets: how many are closed together. chance: from 0 to 1, of this one's own."""
    pause_s = SHORTEST_S + chance * max(SPREAD_S, sockets / SOCKETS_PER_S)
    return f"restart; retry_after_s={pause_s:.2f}"
