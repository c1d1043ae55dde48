"""Forwarding of a user's file events, and of changes of the offered models, to one socket.
The lines are neither stored nor numbered.
"""

import asyncio

from django.contrib.auth.models import User

from chat.events import files, offered_models
from web.socket.hub import Hub
from web.socket.outbox import Outbox


class FileFeed:
    """One socket's feed, which needs no command: start() once, close() at the end."""

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
