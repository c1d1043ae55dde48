"""The Channels consumer of OpenAI's websocket mode: `/v1/responses`, with a frame for each request and each event.

Responses of one lane follow each other, those of several are side by side. A disconnect stops none of them.
"""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import aclosing
from typing import Any, Final, TypeVar
from weakref import WeakValueDictionary

from django.conf import settings
from msgspec import json
from rest_framework.exceptions import AuthenticationFailed

from chat.infrastructure import log_context
from chat.infrastructure.background import in_thread, in_thread_of
from chat.metrics.counters import OPEN_SOCKETS
from chat.protocol.errors import ApiError
from chat.protocol.strict_json import decode
from chat.protocol.wire import CloseCode
from features.openai.authentication import Caller
from features.openai.response_stream import EncodedEvent
from features.openai.socket_frames import (
    CreateFrame,
    EventOutbox,
    encode_error,
    encode_event,
    lane_of,
    parse_create,
)
from features.openai.socket_turns import Lane, Request, StartedResponse, start, warm_up
from features.openai.sse import read_events
from web.rest.errors import ErrorDescription, describe
from web.socket.authentication import HandshakeCredentials, read_token
from web.socket.connection import SocketConnection

# Of one connection, as OpenAI has them: responses in progress, and lanes with names.
MAX_AT_ONCE: Final = 16
MAX_LANES: Final = 32
# Frames of one connection that wait for the responses before them.
MAX_WAITING: Final = 64
# Of one connection: what waits has as many together, and so has what was not generated.
MAX_BYTES: Final = 512 * 1024
# A client that reads nothing for so long loses its connection.
NOT_READ_S: Final = 20.0
# Responses that start at once for one user, and in this process: apart from the threads of sockets, since a start may wait for
# files to be read.
STARTS_OF_USER: Final = 2
_THREADS: Final = ThreadPoolExecutor(16, thread_name_prefix="responses")

R = TypeVar("R")
logger = logging.getLogger(__name__)
_starts: Final[WeakValueDictionary[int, asyncio.Semaphore]] = WeakValueDictionary()


class ResponsesConsumer(SocketConnection):
    async def connect(self) -> None:
        self.outbox = EventOutbox()
        self.lanes: dict[str, Lane] = {}
        # Bodies that were not generated, as JSON by id, the oldest first.
        self.warmed: dict[str, bytes] = {}
        self.sending = asyncio.Lock()
        self.tasks: set[asyncio.Task[None]] = set()
        self.at_once = asyncio.Semaphore(MAX_AT_ONCE)
        self.credentials = HandshakeCredentials(token=read_token(self.scope["headers"], "bearer"))
        if await self.refuse_foreign_origin():
            return
        try:
            await self._identify()
        except Exception as error:  # noqa: BLE001  the edge of the process: the handshake is answered
            await self._refuse(_describe(error))
            return
        await self.accept()
        OPEN_SOCKETS.add(self)
        self.start_writing()
        self.watch_access()

    async def _identify(self) -> None:
        """Find the user, and count the socket. Raises AuthenticationFailed, ApiError."""
        self.user = (await in_thread(Caller.of_token, self.credentials.token)).user
        if not await self.register():
            raise ApiError("too_many_sockets", max=settings.MAX_SOCKETS_PER_USER)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:  # noqa: ARG002
        if self.is_closing:
            return
        lane = ""
        try:
            text = self.admit_frame(text_data)
            frame = decode(text)
            lane = lane_of(frame)
            self._queue(parse_create(frame, lane, text))
        except Exception as error:  # noqa: BLE001  the edge of the process: the socket stays open after any error
            self.outbox.put(encode_error(_describe(error), lane))
        if self.rate_limit.is_flooded:
            await self.close_with(CloseCode.FLOODING)

    def release(self) -> None:
        for task in self.tasks:
            task.cancel()

    async def _refuse(self, described: ErrorDescription) -> None:
        """Answer the handshake with an error, before accept()."""
        self.is_closing = True
        headers = {"Content-Type": "application/json", **described.headers}
        encoded = [(name.encode(), value.encode()) for name, value in headers.items()]
        await self.base_send(
            {"type": "websocket.http.response.start", "status": described.status, "headers": encoded}
        )
        body = json.encode(described.body("", self.scope["path"]))
        await self.base_send({"type": "websocket.http.response.body", "body": body})

    def _queue(self, frame: CreateFrame) -> None:
        """Answer the frame when the ones before it in its lane have been answered. Raises ApiError."""
        waiting = [queued for lane in self.lanes.values() for queued in lane.waiting]
        size = len(frame.data) + sum(len(queued.data) for queued in waiting)
        if len(waiting) >= MAX_WAITING or size > MAX_BYTES:
            raise ApiError("rate_limited", "Too many requests of this connection wait.")
        lane = self.lanes.get(frame.lane)
        if lane is None:
            if frame.lane and len(self.lanes.keys() - {""}) >= MAX_LANES:
                message = f"This connection has {MAX_LANES} lanes. Use one of them, or another connection."
                raise ApiError("invalid_value", message, field="stream_id")
            lane = self.lanes[frame.lane] = Lane(frame.lane)
        lane.waiting.append(frame)
        if not lane.is_busy:
            lane.is_busy = True
            task = asyncio.create_task(self._answer_lane(lane))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

    async def _answer_lane(self, lane: Lane) -> None:
        while lane.waiting:
            async with self.at_once:
                with log_context.bound(request_id=log_context.accept_request_id(None)):
                    await self._answer_next(lane)
        lane.is_busy = False

    async def _answer_next(self, lane: Lane) -> None:
        number: int | None = None
        try:
            started = await self._start_next(lane)
            if started:
                with started.reader.slot:
                    async with aclosing(read_events(started.reader, started.part)) as events:
                        async for event in events:
                            if event is not None:
                                number = event.number
                                await self._send_event(event, lane)
        except Exception as error:  # noqa: BLE001  as in receive()
            self.outbox.put(encode_error(_describe(error), lane.name, None if number is None else number + 1))
            if isinstance(error, AuthenticationFailed):
                await self.close_logged_out()

    async def _start_next(self, lane: Lane) -> StartedResponse | None:
        """Start the response of the next frame, which is not kept while it is answered; None if it is warmed up alone."""
        frame = lane.waiting.popleft()
        unstored = frozenset(lane.unstored for lane in self.lanes.values() if lane.unstored)
        request = Request(self.credentials, frame, unstored, dict(self.warmed))
        if frame.is_generated:
            started = await self._in_turn(start, request)
            lane.unstored = None if started.is_stored else started.part.run.pk
            return started
        response, data = await self._in_turn(warm_up, request)
        self._remember_warmed(response["id"], data)
        begun = {**response, "status": "in_progress"}
        states = (("created", begun), ("in_progress", begun), ("completed", response))
        for number, (kind, state) in enumerate(states):
            members: dict[str, Any] = {"type": f"response.{kind}", "sequence_number": number}
            await self._send_event(EncodedEvent(members, json.encode({**members, "response": state})), lane)
        return None

    async def _in_turn(self, function: Callable[[Request], R], request: Request) -> R:
        """Call a function in a thread, as one of the few of its user. It counts until it ends, whoever still waits for it."""
        slots = _starts.setdefault(self.user.pk, asyncio.Semaphore(STARTS_OF_USER))
        await slots.acquire()
        work = asyncio.ensure_future(in_thread_of(_THREADS, function, request))

        def release(ended: asyncio.Future[R]) -> None:
            slots.release()
            if not ended.cancelled():
                ended.exception()  # read, since a connection that has ended reads it no more

        work.add_done_callback(release)
        return await asyncio.shield(work)

    def _remember_warmed(self, response_id: str, data: bytes) -> None:
        """Keep a body for what continues it, and forget the oldest ones that there is no room for."""
        self.warmed[response_id] = data
        while len(self.warmed) > MAX_LANES or sum(map(len, self.warmed.values())) > MAX_BYTES:
            del self.warmed[next(iter(self.warmed))]

    async def _send_event(self, event: EncodedEvent, lane: Lane) -> None:
        # One lane at a time: all of them would find the same space.
        async with self.sending:
            try:
                async with asyncio.timeout(NOT_READ_S):
                    await self.outbox.wait_for_space()
            except TimeoutError:
                self._close_slow_socket()
                return
            self.outbox.put(encode_event(event, lane.name))


def _describe(error: Exception) -> ErrorDescription:
    described = describe(error)
    if described.status >= 500:
        logger.error("a request of OpenAI's websocket mode failed", exc_info=error)
    return described
