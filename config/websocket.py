"""uvicorn's websocket, which at a restart tells each client when to come back. Named in the Procfile.

The pauses differ, so that not everybody knocks at once. A client that ignores them loses nothing.
"""

import random
from typing import Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

# What one process takes in without being late for anybody.
SOCKETS_PER_S: Final = 500
SHORTEST_S: Final = 0.1
# Spread even a few: each brings back all its subscriptions.
SPREAD_S: Final = 0.4


class WebSocket(WebSocketsSansIOProtocol):
    def shutdown(self) -> None:
        """Called by uvicorn for every open socket when it is told to end; closes it with 1012."""
        send_close = self.conn.send_close
        reason = restart_reason(len(self.connections), random.random())  # noqa: S311  spreads load, hides nothing
        self.conn.send_close = lambda code: send_close(code, reason)  # type: ignore[method-assign, assignment, misc]
        super().shutdown()


def restart_reason(sockets: int, chance: float) -> str:
    """Why a socket is closed. sockets: how many are closed together. chance: from 0 to 1, of this one's own."""
    pause_s = SHORTEST_S + chance * max(SPREAD_S, sockets / SOCKETS_PER_S)
    return f"restart; retry_after_s={pause_s:.2f}"
