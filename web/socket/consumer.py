"""The websocket: reads commands, answers each, and closes. What it pushes is socket/subscription.py; writing is a task
of its own (socket/writer.py), so that a slow screen never blocks a stop.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final
from uuid import UUID

from channels.generic.websocket import AsyncWebsocketConsumer
from django.db import DatabaseError

from chat.infrastructure.threads import in_thread
from chat.metrics.counters import OPEN_SOCKETS, SLOW_CLOSES
from chat.protocol.errors import ApiError
from chat.protocol.wire import CloseCode, encode
from web.rest.errors import describe
from web.socket import authentication, commands, handlers
from web.socket.hub import current_hub
from web.socket.outbox import Outbox
from web.socket.rate_limit import Allowance
from web.socket.session_list import Listening
from web.socket.subscription import Subscription
from web.socket.writer import Writer

RECHECK_S: Final = 60.0
# Sessions one socket may follow at once.
MAX_SUBSCRIPTIONS: Final = 1000

logger = logging.getLogger(__name__)
Reply = dict[str, Any]
Verb = Callable[[Any, commands.Members], Reply]
# Commands that change rows, by type; each runs in a thread.
_VERBS: Final[dict[str, Verb]] = {"send": handlers.send, "stop": handlers.stop, "compress": handlers.compress}


class SocketConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """One socket."""

    async def connect(self) -> None:
        self.subscriptions: dict[UUID, Subscription] = {}
        self.listening: Listening | None = None
        self.outbox = Outbox()
        self.writer: Writer | None = None
        self.rechecking: asyncio.Task[None] | None = None
        self.allowance = Allowance()
        self.credentials = authentication.credentials(self.scope["headers"])
        self.is_closing = False
        if not authentication.is_same_host(self.scope["headers"]):
            self.is_closing = True
            await self.close()  # before accepting: the handshake is answered with 403
            return
        await self.accept()
        OPEN_SOCKETS.add(self)
        self.user = await in_thread(self.credentials.user)
        if self.user is None:
            await self.end(CloseCode.NOT_AUTHENTICATED)
            return
        self.writer = Writer(self.outbox, self.base_send, self._is_too_slow)
        self.rechecking = asyncio.create_task(self._keep_rechecking())

    async def dispatch(self, message: dict[str, Any]) -> None:
        # Channels would visit a thread for every message, to close database connections; in_thread does that
        # where there are any.
        await getattr(self, message["type"].replace(".", "_"))(message)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:  # noqa: ARG002
        if self.is_closing:
            return
        echo: Any = None
        try:
            text = self._admit(text_data)
            echo, given = commands.named(text)
            await self._execute(commands.command(echo, given))
        except Exception as error:  # noqa: BLE001  the edge of the process: the socket stays open, whatever it was
            self._answer_error(error, echo)
        if self.allowance.is_flooded:
            await self.end(CloseCode.FLOODING)

    async def disconnect(self, code: int) -> None:  # noqa: ARG002
        """Ends what this socket held. A disconnect is never a stop."""
        OPEN_SOCKETS.discard(self)
        self.is_closing = True
        self._unsubscribe_all()
        if self.writer:
            self.writer.close()
        if self.rechecking:
            self.rechecking.cancel()

    async def end(self, code: int) -> None:
        """Say why and close; later commands are not looked at."""
        if self.is_closing:
            return
        self.is_closing = True
        # At once: a client that does not read may take long to learn why.
        self._unsubscribe_all()
        if self.writer:
            await self.writer.finish()
        await self.close(code=code)

    def _admit(self, text: str | None) -> str:
        """A frame that may be looked at. Raises ApiError."""
        if not self.allowance.take(asyncio.get_running_loop().time()):
            raise ApiError("rate_limited", "Too many commands. Slow down.")
        if text is None:
            raise ApiError("unsupported_frame")
        return text

    async def _execute(self, command: commands.Command) -> None:
        verb = _VERBS.get(command.type)
        if verb:
            reply = await in_thread(self._if_logged_in, verb, command.members)
            if reply is not None:
                self._answer(command, reply)
                return
        elif await self._is_still_logged_in():
            await self._execute_here(command)
            return
        await self.end(CloseCode.NOT_AUTHENTICATED)

    def _if_logged_in(self, verb: Verb, members: commands.Members) -> Reply | None:
        """Look at the login and do it in one visit to a thread, with one connection."""
        return verb(self.user, members) if self.credentials.still_stand_for(self.user) else None

    async def _execute_here(self, command: commands.Command) -> None:
        match command.type:
            case "ping":
                self._answer(command, {"type": "pong"})
            case "subscribe":
                await self._subscribe(command)
            case "unsubscribe":
                self._unsubscribe(command)
            case "watch_sessions":
                await self._watch_sessions(command)
            case _:
                raise ApiError("not_found", "This is not available here yet.")

    async def _subscribe(self, command: commands.Command) -> None:
        wanted = commands.subscribe(command.members)
        if len(self.subscriptions) >= MAX_SUBSCRIPTIONS and wanted.session not in self.subscriptions:
            raise ApiError("rate_limited", "This socket follows too many sessions.")
        subscription = Subscription(wanted.session, self.outbox, current_hub())
        try:
            reply = await subscription.open(self.user, wanted.since, wanted.cursors)
        except BaseException:
            subscription.close()
            raise
        earlier = self.subscriptions.pop(wanted.session, None)
        if earlier:
            earlier.close()
        self.subscriptions[wanted.session] = subscription
        self._answer(command, reply)
        subscription.begin()

    def _unsubscribe(self, command: commands.Command) -> None:
        session = commands.identifier(command.members, "session")
        subscription = self.subscriptions.pop(session, None)
        if subscription:
            subscription.close()
        self._answer(command, {"type": "unsubscribed", "session": str(session)})

    async def _watch_sessions(self, command: commands.Command) -> None:
        if self.listening is None:
            listening = Listening(self.user, self.outbox, current_hub())
            await listening.open()
            self.listening = listening
        self._answer(command, {"type": "sessions_watched"})

    def _unsubscribe_all(self) -> None:
        if self.listening:
            self.listening.close()
            self.listening = None
        for subscription in self.subscriptions.values():
            subscription.close()
        self.subscriptions.clear()

    async def _is_still_logged_in(self) -> bool:
        return await in_thread(self.credentials.still_stand_for, self.user)

    async def _keep_rechecking(self) -> None:
        is_logged_in = True
        while is_logged_in:
            await asyncio.sleep(RECHECK_S)
            # A database that is away for a moment logs nobody out.
            with suppress(DatabaseError):
                is_logged_in = await self._is_still_logged_in()
        await self.end(CloseCode.NOT_AUTHENTICATED)

    def _is_too_slow(self) -> None:
        SLOW_CLOSES.inc()
        self.slow_close = asyncio.create_task(self.end(CloseCode.SLOW_CONSUMER))

    def _answer(self, command: commands.Command, reply: Reply) -> None:
        self.outbox.put(encode(reply if command.id is None else {**reply, "id": command.id}))

    def _answer_error(self, error: Exception, echo: Any) -> None:
        described = describe(error)
        if described.status >= 500:
            logger.error("a command failed", exc_info=error)
        body = described.body(request_id="")
        del body["request_id"]
        self.outbox.put(encode({"type": "error", **({} if echo is None else {"id": echo}), **body}))
