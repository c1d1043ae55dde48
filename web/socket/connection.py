"""What every websocket has: its limits, an outbox with its writer, the watch over its login, and its end.

A separate task writes, at once while the socket is idle, in fewer and larger frames under load: a client that reads slowly
does not block its own commands.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

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

# One frame of a 60 Hz screen: more frequent writes are not visible.
MIN_INTERVAL_S: Final = 0.016
# How long the queued frames may take to be written when the server closes the socket.
FINAL_WRITE_S: Final = 1.0
# What uvicorn raises after it has closed the connection by itself (a refused frame, no pong), where ASGI wants an OSError.
_CLOSED_BY_SERVER: Final = "after sending 'websocket.close'"

Send = Callable[[dict[str, Any]], Awaitable[None]]
logger = logging.getLogger(__name__)


class OutboxWriter:
    """A task that owns the sending side of one socket.

    on_overflow: called once, when the outbox exceeds its limits. on_failure: called when the task has failed, and will
    not write any more.
    """

    def __init__(
        self, outbox: Outbox, send: Send, on_overflow: Callable[[], None], on_failure: Callable[[], None]
    ) -> None:
        self._outbox = outbox
        self._send = send
        outbox.on_overflow = on_overflow
        self._on_failure = on_failure
        self._task = asyncio.create_task(self._write())
        self._task.add_done_callback(self._report)

    def close(self) -> None:
        self._task.cancel()

    async def finish(self) -> None:
        """Write the queued frames within FINAL_WRITE_S, then end the task."""
        self._outbox.close()
        await asyncio.wait({self._task}, timeout=FINAL_WRITE_S)
        self._task.cancel()

    async def _write(self) -> None:
        outbox, loop = self._outbox, asyncio.get_running_loop()
        written_at = 0.0
        while await outbox.wait():
            pause_s = written_at + MIN_INTERVAL_S - loop.time()
            if pause_s > 0 and not outbox.is_closed:
                await asyncio.sleep(pause_s)
            outbox.is_writing = True
            for frame in outbox.pop_frames():
                await self._send({"type": "websocket.send", "text": frame})
            outbox.is_writing = False
            written_at = loop.time()

    def _report(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None and not _is_end_of_connection(error):
            logger.error("a socket cannot be written to and is closed", exc_info=error)
            self._on_failure()


def _is_end_of_connection(error: BaseException) -> bool:
    """Return whether the client is gone or refused by the server; the consumer learns that too."""
    return isinstance(error, OSError) or (isinstance(error, RuntimeError) and _CLOSED_BY_SERVER in str(error))


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
