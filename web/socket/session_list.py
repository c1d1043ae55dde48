"""One socket's ear for the list of its user's sessions: lines are forwarded as they come, none is kept or numbered."""

import asyncio
from typing import Any

from chat.events import session_list
from chat.protocol.errors import ApiError
from chat.protocol.wire import encode
from web.socket.hub import Hub
from web.socket.outbox import Outbox
from web.socket.subscription import JOIN_S


class Listening:
    """open() once, then hear() until close()."""

    def __init__(self, user: Any, outbox: Outbox, hub: Hub) -> None:
        self.channel = session_list.channel_name(user.pk)
        self.outbox = outbox
        self._hub = hub

    async def open(self) -> None:
        """Returns once nothing is missed any more. Raises ApiError."""
        try:
            async with asyncio.timeout(JOIN_S):
                await self._hub.listen(self.channel, self)
        except TimeoutError:
            self.close()
            raise ApiError("stream_unavailable") from None

    def close(self) -> None:
        self._hub.stop_listening(self.channel, self)

    # For the hub

    def hear(self, lines: bytes) -> None:
        self.outbox.put(lines)

    def miss(self) -> None:
        """The list is to be read again."""
        self.outbox.put(encode({"type": "sessions_resync"}))
