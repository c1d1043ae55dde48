"""Adapts an iterator of response chunks to ASGI or WSGI."""

from collections.abc import AsyncIterator, Iterable, Iterator
from typing import Final

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest

from chat.infrastructure.threads import in_thread

# Produced in one thread call.
_BLOCK_BYTES: Final = 256 * 1024


def adapt_chunks(request: HttpRequest, chunks: Iterator[bytes]) -> Iterable[bytes] | AsyncIterator[bytes]:
    """Return an iterator for StreamingHttpResponse.

    ASGI and WSGI each stream only their own kind of iterator. Under ASGI the chunks are produced in threads, so
    the iterator may query the database.
    """
    return _iterate_in_threads(chunks) if isinstance(request, ASGIRequest) else chunks


async def _iterate_in_threads(chunks: Iterator[bytes]) -> AsyncIterator[bytes]:
    while block := await in_thread(_next_block, chunks):
        yield block


def _next_block(chunks: Iterator[bytes]) -> bytes:
    """Join the next chunks; empty at the end."""
    block = bytearray()
    for chunk in chunks:
        block += chunk
        if len(block) >= _BLOCK_BYTES:
            break
    return bytes(block)
