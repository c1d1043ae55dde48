"""The Channels consumer of /ws/, which authenticates, executes commands, answers each, and closes.

Pushed packets come from subscription.py.
"""

import logging
from collections.abc import Callable
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User

from chat.infrastructure import log_context
from chat.infrastructure.background import in_thread
from chat.metrics.counters import OPEN_SOCKETS
from chat.protocol.body import Body, parse_id
from chat.protocol.errors import ApiError
from chat.protocol.wire import CloseCode, encode
from web.rest.authentication import check_may_write
from web.rest.errors import describe
from web.socket import authentication, commands, handlers
from web.socket.connection import SocketConnection
from web.socket.hub import current_hub
from web.socket.replies import Accepted, Pong, Reply, SessionsWatched, Unsubscribed
from web.socket.subscription import Subscription
from web.socket.user_feeds import FileFeed, SessionListSubscription

# Sessions that one socket may subscribe to at once.
MAX_SUBSCRIPTIONS: Final = 1000

logger = logging.getLogger(__name__)
Handler = Callable[[User, Any], Reply]
# Commands that change rows; each runs in a thread.
_HANDLERS: Final[dict[type[Body], Handler]] = {
    commands.SendCommand: handlers.send,
    commands.StopCommand: handlers.stop,
    commands.ApproveCommand: handlers.approve,
    commands.ContinueCommand: handlers.continue_run,
    commands.CompressCommand: handlers.compress,
}


class SocketConsumer(SocketConnection):
    async def connect(self) -> None:
        self.subscriptions: dict[UUID, Subscription] = {}
        self.session_list: SessionListSubscription | None = None
        self.file_feed: FileFeed | None = None
        self.credentials = authentication.read_credentials(self.scope["headers"])
        if await self.refuse_foreign_origin():
            return
        await self.accept()
        OPEN_SOCKETS.add(self)
        user = await in_thread(self.credentials.find_user)
        if user is None:
            await self.close_with(CloseCode.NOT_AUTHENTICATED)
            return
        self.user = user
        self.start_writing()
        if not await self.register():
            self._answer_error(ApiError("too_many_sockets", max=settings.MAX_SOCKETS_PER_USER), {})
            await self.close_with(CloseCode.TOO_MANY_SOCKETS)
            return
        self.watch_access()
        self.file_feed = FileFeed(user, self.outbox, current_hub())
        self.file_feed.start()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:  # noqa: ARG002
        if self.is_closing:
            return
        try:
            frame = commands.decode_frame(self.admit_frame(text_data))
        except Exception as error:  # noqa: BLE001  as below
            self._answer_error(error, {})
        else:
            named = {name: parse_id(frame.get(name)) for name in ("session", "run", "turn")}
            request_id = log_context.accept_request_id(frame.get("request_id"))
            with log_context.bound(request_id=request_id, **named):
                await self._execute_frame(frame)
        if self.rate_limit.is_flooded:
            await self.close_with(CloseCode.FLOODING)

    async def _execute_frame(self, frame: commands.Members) -> None:
        try:
            await self._execute(commands.find_command(frame), frame)
        except Exception as error:  # noqa: BLE001  the edge of the process: the socket stays open after any error
            self._answer_error(error, frame)

    async def _execute(self, command: type[Body], frame: commands.Members) -> None:
        if command in _HANDLERS:
            reply = await in_thread(self._handle_if_logged_in, command, frame)
            if reply is not None:
                self._answer(frame, reply)
                return
        elif await self._is_still_logged_in():
            await self._execute_on_loop(commands.parse_command(command, frame), frame)
            return
        await self.close_with(CloseCode.NOT_AUTHENTICATED)

    def _handle_if_logged_in(self, command: type[Body], frame: commands.Members) -> Reply | None:
        """Check the login, validate and handle the command in one thread call, with one database connection."""
        scope = self.credentials.find_scope(self.user)
        if scope is None:
            return None
        check_may_write(scope)
        return _HANDLERS[command](self.user, commands.parse_command(command, frame))

    async def _execute_on_loop(self, command: Body, frame: commands.Members) -> None:
        match command:
            case commands.SubscribeCommand():
                await self._subscribe(command, frame)
            case commands.UnsubscribeCommand(session=session):
                self._unsubscribe(session)
                self._answer(frame, Unsubscribed(session=session))
            case commands.WatchSessionsCommand():
                await self._watch_sessions()
                self._answer(frame, SessionsWatched())
            case commands.PingCommand():
                self._answer(frame, Pong())

    async def _subscribe(self, command: commands.SubscribeCommand, frame: commands.Members) -> None:
        session = command.session
        if len(self.subscriptions) >= MAX_SUBSCRIPTIONS and session not in self.subscriptions:
            raise ApiError("rate_limited", "This socket follows too many sessions.")
        subscription = Subscription(session, self.outbox, current_hub())
        try:
            reply = await subscription.open(self.user, command.since, command.cursors or {})
        except BaseException:
            subscription.close()
            raise
        self._unsubscribe(session)
        self.subscriptions[session] = subscription
        self._answer(frame, reply)
        subscription.start()

    def _unsubscribe(self, session: UUID) -> None:
        subscription = self.subscriptions.pop(session, None)
        if subscription:
            subscription.close()

    async def _watch_sessions(self) -> None:
        if self.session_list is None:
            session_list = SessionListSubscription(self.user, self.outbox, current_hub())
            await session_list.open()
            self.session_list = session_list

    def release(self) -> None:
        for feed in (self.session_list, self.file_feed):
            if feed:
                feed.close()
        self.session_list = self.file_feed = None
        for subscription in self.subscriptions.values():
            subscription.close()
        self.subscriptions.clear()

    async def _is_still_logged_in(self) -> bool:
        return await in_thread(self.credentials.still_identify, self.user)

    def _answer(self, frame: commands.Members, reply: Reply) -> None:
        """Answer a command with what it echoes of its frame."""
        # A reply about something started always has the id, since the turn stores it.
        if "request_id" in frame or isinstance(reply, Accepted):
            reply.request_id = log_context.current_request_id()
        if frame.get("id") is not None:
            reply.id = frame["id"]
        self.outbox.put(encode(reply))

    def _answer_error(self, error: Exception, frame: commands.Members) -> None:
        described = describe(error)
        if described.status >= 500:
            logger.error("a command failed", exc_info=error)
        body = described.body(log_context.current_request_id())
        # Errors of one kind are the same for every client, unless they must be found in the logs.
        if described.status < 500 and "request_id" not in frame:
            del body["request_id"]
        command_id = frame.get("id")
        self.outbox.put(
            encode({"type": "error", **({} if command_id is None else {"id": command_id}), **body})
        )


async def reject_unknown_path(_scope: Any, receive: Any, send: Any) -> None:
    """Reject every other path at the handshake."""
    await receive()
    await send({"type": "websocket.close"})
