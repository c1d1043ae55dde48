"""A uvicorn websocket protocol that spreads reconnections; the Procfile selects it.

At shutdown each client receives a close reason with its own reconnect delay, so that clients do not reconnect all at
once. A client that ignores the delay loses nothing.
"""

import random
from typing import Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from config.http_protocol import connections

# The rate of new sockets that one process accepts without delaying its other sockets.
SOCKETS_PER_S: Final = 500
SHORTEST_S: Final = 0.1
# The smallest spread: even a few clients restore many subscriptions.
SPREAD_S: Final = 0.4


class WebSocket(WebSocketsSansIOProtocol):
    def connection_lost(self, exc: Exception | None) -> None:
        connections.release(self.transport)
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Close the socket with code 1012; uvicorn calls this for every open socket at shutdown."""
        send_close = self.conn.send_close
        reason = restart_reason(len(self.connections), random.random())  # noqa: S311  spreads load, hides nothing
        self.conn.send_close = lambda code: send_close(code, reason)  # type: ignore[method-assign, assignment, misc]
        super().shutdown()


def restart_reason(sockets: int, chance: float) -> str:
    """Return the close reason, with a reconnect delay.

    sockets: how many close together.  chance: this socket's random number, 0 to 1.
    """
    pause_s = SHORTEST_S + chance * max(SPREAD_S, sockets / SOCKETS_PER_S)
    return f"restart; retry_after_s={pause_s:.2f}"
