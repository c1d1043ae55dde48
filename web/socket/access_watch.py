"""Closing of a socket whose login has ended. The login is checked when the user's access changes, and periodically."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from django.contrib.auth.models import User
from django.db import DatabaseError
from psycopg_pool import PoolTimeout

from chat.events import access
from chat.infrastructure.background import in_thread, start_task
from web.socket.authentication import HandshakeCredentials
from web.socket.hub import Hub

# For changes without an announcement: by SQL, in a shell, or while Redis was unreachable.
RECHECK_S: Final = 20.0
RETRY_S: Final = 1.0


class AccessWatch:
    """One socket's watch: start() once, close() at the end. on_ended: called once, when the login has ended."""

    def __init__(
        self, user: User, credentials: HandshakeCredentials, hub: Hub, on_ended: Callable[[], Awaitable[None]]
    ) -> None:
        self._user = user
        self._credentials = credentials
        self._hub = hub
        self._on_ended = on_ended
        self._channel = access.channel_name(user.pk)
        self._is_due = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self) -> None:
        self._tasks = {asyncio.create_task(self._listen()), start_task("access watch", self._keep_checking)}

    def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        self._hub.stop_listening(self._channel, self)

    # ChannelListener, called by the hub

    def receive_lines(self, lines: bytes) -> None:  # noqa: ARG002
        self._is_due.set()

    def on_gap(self) -> None:
        self._is_due.set()

    async def _listen(self) -> None:
        """Listen to the channel without delaying the socket.
        The check after Redis's confirmation finds changes that happened before it.
        """
        await self._hub.listen(self._channel, self)
        self._is_due.set()

    async def _keep_checking(self) -> None:
        wait_s = RECHECK_S
        while True:
            try:
                async with asyncio.timeout(wait_s):
                    await self._is_due.wait()
            except TimeoutError:
                pass
            self._is_due.clear()
            try:
                is_valid = await in_thread(self._credentials.still_identify, self._user)
            except (DatabaseError, PoolTimeout):
                # A database that is unreachable for a moment logs nobody out.
                wait_s = RETRY_S
                continue
            wait_s = RECHECK_S
            if not is_valid:
                break
        await self._on_ended()
