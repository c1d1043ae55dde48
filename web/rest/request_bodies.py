"""ASGI middleware that limits the bytes and the time of request bodies, before Django stores and authenticates them."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final, NamedTuple

import msgspec
from django.conf import settings
from django.urls import Resolver404, resolve

from chat.infrastructure.log_context import accept_request_id
from chat.protocol.errors import ApiError
from web.rest.errors import describe

logger = logging.getLogger(__name__)

Message = dict[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Any, Any, Any], Awaitable[None]]

# The limit for clients without a session and a token: enough for every login.
ANONYMOUS_BYTES: Final = 64 * 1024
# The limit for all unanswered bodies of this process. Django keeps them in memory and in temporary files.
MAX_HELD_BYTES: Final = max(512 * 1024 * 1024, 2 * settings.MAX_IMPORT_BYTES)
# A body may take REQUEST_BODY_TIMEOUT, and then as long as it arrives at this rate.
SLOWEST_BYTES_PER_S: Final = 16 * 1024
# A client that is still sending receives the refusal only if its data is read meanwhile.
LINGER_S: Final = 2.0
_DISCONNECT: Final[Message] = {"type": "http.disconnect"}


class BodyNotStored(Exception):
    """The disk of temporary files is full, or fails."""


class BodyLimit(NamedTuple):
    """The limit of a body. too_large: returns the error for a longer body, if the route has its own."""

    max_bytes: int
    too_large: Callable[[], ApiError] | None = None

    def refusal(self) -> ApiError:
        return self.too_large() if self.too_large else ApiError("body_too_large", limit=self.max_bytes)


class RequestBodies:
    """Middleware that answers 413, 408 and 503 itself. Requests without a body pass unchanged."""

    def __init__(self, application: Application) -> None:
        self._application = application
        self._held_bytes = 0

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"]) if scope["type"] == "http" else {}
        if b"content-length" not in headers and b"transfer-encoding" not in headers:
            await self._application(scope, receive, send)
            return
        body = _Body(self, receive, headers, limit_of(scope["path"], headers))
        try:
            await self._application(scope, body.receive, send)
        except BodyNotStored as error:
            logger.warning("a body is refused: %s", error.__cause__)
            body.refusal = ApiError("file_storage_unavailable")
        finally:
            self._held_bytes -= body.received_bytes
        if body.refusal:
            await _answer(body.refusal, scope, receive, send)

    def hold(self, number: int) -> bool:
        """Count bytes that are now held; return False if they are too many."""
        self._held_bytes += number
        return self._held_bytes <= MAX_HELD_BYTES


class _Body:
    """The body of one request. After a refusal its reader sees a client that has disconnected."""

    def __init__(
        self, bodies: RequestBodies, receive: Receive, headers: dict[bytes, bytes], limit: BodyLimit
    ) -> None:
        self._bodies = bodies
        self._receive = receive
        self._limit = limit
        self._is_complete = False
        self._began_at = asyncio.get_running_loop().time()
        self.received_bytes = 0
        length = headers.get(b"content-length", b"0")
        is_too_long = length.isdigit() and int(length) > limit.max_bytes
        self.refusal: ApiError | None = limit.refusal() if is_too_long else None

    async def receive(self) -> Message:
        if self.refusal:
            return _DISCONNECT
        if self._is_complete:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline()):
                message = await self._receive()
        except TimeoutError:
            self.refusal = ApiError("request_timeout")
            return _DISCONNECT
        self._count(len(message.get("body", b"")))
        self._is_complete = not message.get("more_body", False)
        return _DISCONNECT if self.refusal else message

    def _deadline(self) -> float:
        """Return the time by which the body must be complete, in the event loop's seconds."""
        return self._began_at + settings.REQUEST_BODY_TIMEOUT_S + self.received_bytes / SLOWEST_BYTES_PER_S

    def _count(self, number: int) -> None:
        self.received_bytes += number
        has_room = self._bodies.hold(number)
        if self.received_bytes > self._limit.max_bytes:
            self.refusal = self._limit.refusal()
        elif not has_room:
            self.refusal = ApiError("too_many_uploads")


def limit_of(path: str, headers: dict[bytes, bytes]) -> BodyLimit:
    """Return the limit for the body of a request to this path."""
    if b"authorization" not in headers and settings.SESSION_COOKIE_NAME.encode() not in headers.get(
        b"cookie", b""
    ):
        return BodyLimit(ANONYMOUS_BYTES)
    try:
        view = resolve(path).func
    except Resolver404:
        return BodyLimit(ANONYMOUS_BYTES)
    given: Iterable[Any] = getattr(getattr(view, "cls", None), "parser_classes", ())
    media_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower().decode("latin1")
    # If no parser accepts the type, the request is refused once it is read.
    parsers = [parser for parser in given if parser.media_type == media_type] or given
    # Other views are forms, which Django limits to the same size.
    form = settings.DATA_UPLOAD_MAX_MEMORY_SIZE or ANONYMOUS_BYTES
    limits = [
        BodyLimit(int(getattr(parser, "max_bytes", form)), getattr(parser, "too_large", None))
        for parser in parsers
    ]
    return max(limits, default=BodyLimit(form), key=lambda limit: limit.max_bytes)


async def _answer(refusal: ApiError, scope: Any, receive: Receive, send: Send) -> None:
    described = describe(refusal)
    request_id = accept_request_id(dict(scope["headers"]).get(b"x-request-id", b"").decode("latin1"))
    content = msgspec.json.encode(described.body(request_id, scope["path"]))
    answered = {
        "Content-Type": "application/json",
        "Content-Length": str(len(content)),
        "Connection": "close",
        "X-Request-ID": request_id,
        **described.headers,
    }
    pairs = [(name.lower().encode(), value.encode()) for name, value in answered.items()]
    await send({"type": "http.response.start", "status": described.status, "headers": pairs})
    await send({"type": "http.response.body", "body": content, "more_body": True})
    if described.status != 408:
        await _discard(receive)
    await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _discard(receive: Receive) -> None:
    """Read and discard further data of the client for LINGER_S."""
    try:
        async with asyncio.timeout(LINGER_S):
            more = True
            while more:
                more = bool((await receive()).get("more_body", False))
    except TimeoutError:
        pass
