"""What every websocket has: its limits, an outbox with its writer, the watch over its login, and its end.

A separate task writes (writer.py), so that a client that reads slowly does not block its own commands.
"""

import asyncio
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.contrib.auth.models import User

from chat.metrics.counters import OPEN_SOCKETS, SLOW_CLOSES
from chat.protocol.errors import ApiError
from chat.protocol.wire import CloseCode
from web.socket.access_watch import AccessWatch
from web.socket.authentication import HandshakeCredentials, is_same_origin
from web.socket.hub import current_hub
from web.socket.outbox import Outbox
from web.socket.rate_limit import CommandRateLimit
from web.socket.writer import OutboxWriter


class SocketConnection(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One websocket connection. Subclasses authenticate it, execute its frames, and release() what they have open."""

    user: User
    credentials: HandshakeCredentials

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.outbox = Outbox()
        self.writer: OutboxWriter | None = None
        self.access_watch: AccessWatch | None = None
        self.registered: str | None = None
        self.rate_limit = CommandRateLimit()
        self.is_closing = False

    async def dispatch(self, message: dict[str, Any]) -> None:
        # Channels would call a thread for every message, to close database connections; in_thread does that
        # where connections are used.
        await getattr(self, message["type"].replace(".", "_"))(message)

    async def refuse_foreign_origin(self) -> bool:
        """Refuse the handshake of a page of another site with 403; return whether that was necessary."""
        self.is_closing = not is_same_origin(self.scope["headers"], self.scope.get("scheme", "ws"))
        if self.is_closing:
            await self.close()
        return self.is_closing

    async def register(self) -> bool:
        """Count the socket; return False if the user has as many as allowed."""
        self.registered = await current_hub().sockets.admit(self.user.pk)
        return self.registered is not None

    def start_writing(self) -> None:
        self.writer = OutboxWriter(
            self.outbox, self.base_send, self._close_slow_socket, self._close_mute_socket
        )

    def watch_access(self) -> None:
        """Close the socket when its login has ended."""
        self.access_watch = AccessWatch(self.user, self.credentials, current_hub(), self.close_logged_out)
        self.access_watch.start()

    def admit_frame(self, text: str | None) -> str:
        """Return the text of a frame if the rate limit allows it. Raises ApiError."""
        if not self.rate_limit.take(asyncio.get_running_loop().time()):
            raise ApiError("rate_limited", "Too many commands. Slow down.")
        if text is None:
            raise ApiError("unsupported_frame")
        return text

    async def disconnect(self, code: int) -> None:  # noqa: ARG002
        """Release the resources of this socket. A disconnect never stops a run."""
        OPEN_SOCKETS.discard(self)
        self.is_closing = True
        self.release()
        if self.registered:
            current_hub().sockets.release(self.registered)
        if self.writer:
            self.writer.close()
        if self.access_watch:
            self.access_watch.close()

    async def close_with(self, code: int) -> None:
        """Write the queued frames and close with `code`; later commands are ignored."""
        if self.is_closing:
            return
        self.is_closing = True
        # Before the close frame, which may wait long for a client that does not read.
        self.release()
        if self.writer:
            await self.writer.finish()
        await self.close(code=code)

    def release(self) -> None:
        """Close what the socket follows. Called at its end, and perhaps before."""

    async def close_logged_out(self) -> None:
        # In a task of its own: closing cancels the watch, which calls this.
        self.logged_out_close = asyncio.create_task(self.close_with(CloseCode.NOT_AUTHENTICATED))

    def _close_slow_socket(self) -> None:
        SLOW_CLOSES.inc()
        self.slow_close = asyncio.create_task(self.close_with(CloseCode.SLOW_CONSUMER))

    def _close_mute_socket(self) -> None:
        """Close a socket that cannot be written to. The client reconnects, and continues after its last packet."""
        self.mute_close = asyncio.create_task(self.close_with(CloseCode.RESTART))
