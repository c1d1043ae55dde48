"""Streams of server-sent events, and answers that wait for a run: asynchronous, without a database connection."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, aclosing, contextmanager
from dataclasses import replace
from functools import wraps
from typing import Any, Final, NamedTuple

from asgiref.sync import sync_to_async
from django.contrib.auth.models import User
from django.core.handlers.asgi import ASGIRequest
from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from msgspec import json
from psycopg_pool import PoolTimeout
from redis.exceptions import RedisError
from rest_framework.request import Request

from chat.infrastructure.background import in_thread, in_thread_of
from chat.loaders.rounds import load_waits
from chat.log.cursor import START
from chat.models import Run
from chat.protocol import wire as p
from chat.protocol.errors import ApiError
from features.openai.authentication import read_bearer
from features.openai.response_parts import ResponsePart
from features.openai.response_stream import EncodedEvent, ResponseStream, may_wait
from features.openai.responses import describe_end, open_stream, present_response, replay
from knowledge.idle_connection import return_idle_connection
from web.rest.api_view import current_user
from web.rest.errors import describe as describe_error
from web.rest.errors import request_id
from web.rest.request_slots import Slot, UserSlots
from web.rest.streaming import BLOCK_BYTES, THREADS
from web.socket.authentication import HandshakeCredentials
from web.socket.hub import current_hub
from web.socket.outbox import Outbox
from web.socket.subscription import Subscription

# A number below that of the first event.
FROM_THE_BEGINNING: Final = -1
# Of each user in this process.
STREAMS: Final = UserSlots(50)
# Between comments, and between checks of the token: less than the minute after which proxies end a silent connection.
CHECK_S: Final = 15.0
COMMENT: Final = b": \n\n"
_ENTRIES: Final = ('{"type":"packet"', '{"type":"snapshot"', '{"type":"reset"')
# What ends an answer that has begun. Its client reads the description.
FAILURES: Final = (ApiError, RedisError, DatabaseError, PoolTimeout)
_decode: Final = json.Decoder(p.Packet | p.Snapshot | p.Reset).decode


class Reader(NamedTuple):
    """Who reads an answer, or waits for it, and the slot for that."""

    user: User
    credentials: HandshakeCredentials
    slot: Slot

    def may_read(self, run: Run) -> bool:
        """Return whether the token and its user are still valid, and the run is still the user's."""
        is_valid = self.credentials.still_identify(self.user)
        return is_valid and Run.objects.visible_to(self.user).filter(pk=run.pk).exists()


def reading(request: Request) -> AbstractContextManager[Reader]:
    return reading_as(current_user(request), read_bearer(request))


@contextmanager
def reading_as(user: User, credentials: HandshakeCredentials) -> Iterator[Reader]:
    """Take the slot before the answer is started; free it if that fails. Raises ApiError."""
    with ExitStack() as on_failure:
        slot = on_failure.enter_context(STREAMS.take(user.pk))
        yield Reader(user, credentials, slot)
        on_failure.pop_all()


async def read_events(
    reader: Reader, part: ResponsePart, after: int = FROM_THE_BEGINNING
) -> AsyncGenerator[EncodedEvent | None, None]:
    """Yield the events of a response with numbers above `after`; None in times of silence."""
    if not part.is_live:
        replayed = (event for event in replay(part) if event.number > after)
        while block := await in_thread_of(THREADS, _next_block, replayed):
            for event in block:
                yield event
        return
    async with aclosing(_follow(reader, part)) as events:
        async for live_event in events:
            if live_event is None or live_event.number > after:
                yield live_event


async def _follow(reader: Reader, part: ResponsePart) -> AsyncGenerator[EncodedEvent | None, None]:
    stream = await in_thread(open_stream, part)
    for event in stream.begin():
        yield event
    async with aclosing(read_log(reader, part.run)) as entries:
        async for entry in entries:
            if entry is None:
                yield None
                continue
            if not part.is_whole and stream.has_asked(entry):
                stream.set_waits(await in_thread(load_waits, part.run))
            for event in stream.feed(entry):
                yield event
            if isinstance(entry, p.Packet) and isinstance(entry.obj, p.Stop):
                for event in await in_thread(_end_stream, stream, part):
                    yield event
            if stream.is_ended:
                return
    raise ApiError("stream_unavailable")


async def read_log(
    reader: Reader, run: Run, silence_s: Callable[[], float] = lambda: CHECK_S
) -> AsyncGenerator[p.Packet | p.Snapshot | p.Reset | None, None]:
    """Yield the entries of a run's log from its beginning, as a socket gets them; None when none came for `silence_s`.

    Ends if the reader is too slow, or may no longer read the run.
    """
    outbox = Outbox()
    subscription = Subscription(run.turn.session_id, outbox, current_hub())
    try:
        await subscription.open(reader.user, None, {run.pk: START})
        subscription.start()
        came_at = _now()
        check_at = came_at + CHECK_S
        while True:
            if _now() >= check_at:
                if not await in_thread(reader.may_read, run):
                    return
                check_at = _now() + CHECK_S
            # The other runs of the chat may speak meanwhile.
            if _now() >= came_at + silence_s():
                yield None
                came_at = _now()
            try:
                async with asyncio.timeout_at(min(check_at, came_at + silence_s())):
                    is_open = await outbox.wait()
            except TimeoutError:
                continue
            if not is_open:
                return
            for entry in _queued_entries(outbox, str(run.pk)):
                yield entry
                came_at = _now()
    finally:
        subscription.close()


def _queued_entries(outbox: Outbox, run: str) -> Iterator[p.Packet | p.Snapshot | p.Reset]:
    """Yield the queued entries of a run. Until the last one is read, the outbox counts as being written."""
    lines = [line for line in outbox.take().split("\n") if line.startswith(_ENTRIES)]
    outbox.is_writing = True
    for entry in map(_decode, lines):
        if entry.run == run:
            yield entry
    outbox.is_writing = False


def _now() -> float:
    return asyncio.get_running_loop().time()


def _next_block(events: Iterator[EncodedEvent]) -> list[EncodedEvent]:
    """Return the next events; none at the end."""
    block: list[EncodedEvent] = []
    size = 0
    for event in events:
        block.append(event)
        size += len(event.data)
        if size >= BLOCK_BYTES:
            break
    return block


def _end_stream(stream: ResponseStream, part: ResponsePart) -> list[EncodedEvent]:
    ended = _load_ended(part)
    return list(stream.end(describe_end(ended), lambda: replay(ended)))


def _load_ended(part: ResponsePart) -> ResponsePart:
    """Load the response again. Raises ApiError if it is gone, or has not ended."""
    ended = part.load_again()
    if ended.is_live:
        raise ApiError("stream_unavailable")
    return ended


def stream_events(reader: Reader, part: ResponsePart, after: int) -> StreamingHttpResponse:
    """Return the response that sends the events with numbers above `after`, one in each write."""
    return EventStream(_encode_events(reader, part, after), reader.slot)


class EventStream(StreamingHttpResponse):
    """A response of events. Its slot is free once it is closed, read or not.

    on_request_finished: see awaiting().
    """

    def __init__(
        self,
        content: AsyncGenerator[bytes, None],
        slot: Slot,
        on_request_finished: Callable[[], None] | None = None,
    ) -> None:
        headers = {"X-Accel-Buffering": "no"}
        super().__init__(content, content_type="text/event-stream", headers=headers)
        self._slot = slot
        self.on_request_finished = on_request_finished

    def close(self) -> None:
        super().close()
        self._slot.free()


async def _encode_events(reader: Reader, part: ResponsePart, after: int) -> AsyncGenerator[bytes, None]:
    number = after
    try:
        async with aclosing(read_events(reader, part, after)) as events:
            async for event in events:
                if event is None:
                    yield COMMENT
                else:
                    number = event.number
                    yield b"event: %s\ndata: %s\n\n" % (event.type.encode(), event.data)
    except FAILURES as error:
        described = describe_error(error)
        failure: dict[str, Any] = {"code": described.code, "message": described.message, "param": None}
        failure |= {"type": "error", "sequence_number": number + 1}
        yield b"event: error\ndata: %s\n\n" % json.encode(failure)


class AwaitedResponse(HttpResponse):
    """What a view returns whose response is made on the event loop, by `make`.  on_request_finished: see awaiting()."""

    def __init__(
        self,
        make: Callable[[], Awaitable[HttpResponseBase]],
        on_request_finished: Callable[[], None] | None = None,
    ) -> None:
        super().__init__()
        self.make = make
        self.on_request_finished = on_request_finished


def awaiting(view: Callable[..., HttpResponseBase]) -> Callable[..., Any]:
    """Return the view with AwaitedResponse replaced by what it makes, which holds no thread.

    When the request has finished, in whatever way, its response's on_request_finished() is called on the event loop.
    A client may disconnect while the view still makes the response, which then is neither begun nor closed.
    """

    @wraps(view)
    async def respond(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = await sync_to_async(_call_idly)(_observed(view), request, *args, **kwargs)
        if not isinstance(response, AwaitedResponse):
            return response
        try:
            return await response.make()
        except FAILURES as error:
            described = describe_error(error)
            body = described.body(request_id(request), request.path)
            return JsonResponse(body, status=described.status, headers=dict(described.headers))

    return respond


def _observed(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Return the view, which lets the current task, the request's, call on_request_finished() of what it returns."""
    task, loop = asyncio.current_task(), asyncio.get_running_loop()

    def call(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        response = view(request, *args, **kwargs)
        on_request_finished = getattr(response, "on_request_finished", None)
        # Without ASGI, the task ends before the response is sent.
        if task and on_request_finished and isinstance(request, ASGIRequest):
            loop.call_soon_threadsafe(task.add_done_callback, lambda _: on_request_finished())
        return response

    return call


def _call_idly(view: Callable[..., HttpResponseBase], *args: Any, **kwargs: Any) -> HttpResponseBase:
    """Call a view, then return the connection of its thread, which belongs to the request until that is answered."""
    try:
        return view(*args, **kwargs)
    finally:
        return_idle_connection()


async def await_response(reader: Reader, part: ResponsePart) -> JsonResponse:
    return JsonResponse(await await_end(reader, part))


async def await_end(reader: Reader, part: ResponsePart) -> dict[str, Any]:
    """Return the response once it has ended. Raises ApiError."""
    with reader.slot:
        if part.is_live:
            async with aclosing(read_log(reader, part.run)) as entries:
                async for entry in entries:
                    if await _has_ended(part, entry):
                        break
        return await in_thread(_present_ended, part)


async def _has_ended(part: ResponsePart, entry: p.Packet | p.Snapshot | p.Reset | None) -> bool:
    if isinstance(entry, p.Packet) and isinstance(entry.obj, p.Stop):
        return True
    if part.is_whole or entry is None or not may_wait(entry):
        return False
    return replace(part, waits=await in_thread(load_waits, part.run)).end is not None


def _present_ended(part: ResponsePart) -> dict[str, Any]:
    return present_response(_load_ended(part))
