"""Long answers in pieces, as the server at hand takes them."""

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Final

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest

from chat.infrastructure.threads import in_thread

# So much is made in one visit to a thread.
_PIECE_BYTES: Final = 256 * 1024


def served(request: HttpRequest, pieces: Iterator[bytes]) -> Iterable[bytes] | AsyncIterator[bytes]:
    """For StreamingHttpResponse. ASGI and WSGI can only forward their own kind of iterator; under ASGI the pieces are
    made in threads, so they may read the database."""
    return _in_threads(pieces) if isinstance(request, ASGIRequest) else pieces


async def _in_threads(pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
    while piece := await in_thread(_some, pieces):
        yield piece


def _some(pieces: Iterator[bytes]) -> bytes:
    """The next pieces together; nothing: there are none left."""
    taken = bytearray()
    for piece in pieces:
        taken += piece
        if len(taken) >= _PIECE_BYTES:
            break
    return bytes(taken)
