"""Forwarding of changes that concern a user and not one session to one socket: files, offered models, the session list.

The lines are neither stored nor numbered.
"""

import asyncio

from django.contrib.auth.models import User

from chat.events import files, offered_models, session_list
from chat.events.frames import SessionsResync
from chat.protocol.errors import ApiError
from chat.protocol.wire import encode
from web.socket.hub import Hub
from web.socket.outbox import Outbox
from web.socket.subscription import JOIN_TIMEOUT_S


class FileFeed:
    """One socket's feed of files and offered models, which needs no command: start() once, close() at the end."""

    def __init__(self, user: User, outbox: Outbox, hub: Hub) -> None:
        self._channels = (files.channel_name(user.pk), offered_models.CHANNEL)
        self._outbox = outbox
        self._hub = hub

    def start(self) -> None:
        """Listen in a task, so that the socket does not wait for Redis."""
        self._task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        for channel in self._channels:
            await self._hub.listen(channel, self)

    def close(self) -> None:
        self._task.cancel()
        for channel in self._channels:
            self._hub.stop_listening(channel, self)

    # ChannelListener, called by the hub

    def receive_lines(self, lines: bytes) -> None:
        self._outbox.put(lines)

    def on_gap(self) -> None:
        """Ignore the gap: a client that has waited for long reads the file itself."""


class SessionListSubscription:
    """One socket's subscription to its user's session list: open() once, close() at the end."""

    def __init__(self, user: User, outbox: Outbox, hub: Hub) -> None:
        self.channel = session_list.channel_name(user.pk)
        self.outbox = outbox
        self._hub = hub

    async def open(self) -> None:
        """Listen; return once every later change reaches the socket. Raises ApiError."""
        try:
            async with asyncio.timeout(JOIN_TIMEOUT_S):
                await self._hub.listen(self.channel, self)
        except TimeoutError:
            self.close()
            raise ApiError("stream_unavailable") from None

    def close(self) -> None:
        self._hub.stop_listening(self.channel, self)

    # ChannelListener, called by the hub

    def receive_lines(self, lines: bytes) -> None:
        self.outbox.put(lines)

    def on_gap(self) -> None:
        """Ask the client to read the list again."""
        self.outbox.put(encode(SessionsResync()))
