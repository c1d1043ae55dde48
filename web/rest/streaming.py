"""Streamed responses. Their chunks are produced in threads.
They hold no database connection while they are sent, and are closed on every path.
"""

from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Final, Self

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse

from chat.infrastructure.background import in_thread_of
from web.rest.request_slots import Slot

# Bytes that are produced in one thread call.
BLOCK_BYTES: Final = 256 * 1024
# Separate from the threads of sockets: contents come from storages that may be slow.
THREADS: Final = ThreadPoolExecutor(8, thread_name_prefix="stream")


def streamed(
    request: HttpRequest, chunks: Iterator[bytes], slot: Slot, **options: Any
) -> StreamingHttpResponse:
    """Return the response that sends `chunks`, an iterator that may query the database.

    `slot` is freed when the response is closed. options: arguments of StreamingHttpResponse. ASGI and WSGI each stream
    only their own kind of iterator.
    """
    kind = _Blocks if isinstance(request, ASGIRequest) else _Chunks
    return StreamingHttpResponse(kind(chunks, slot), **options)


class _Content:
    """The chunks of a response with its slot. Django calls close() whenever the response has ended, in any way."""

    def __init__(self, chunks: Iterator[bytes], slot: Slot) -> None:
        self._chunks: Iterator[bytes] = chunks
        self._slot = slot
        # The client may disconnect while a thread produces a block.
        self._producing = Lock()

    def read(self, at_least: int) -> bytes:
        """Join the next chunks; empty at the end."""
        block = bytearray()
        with self._producing:
            for chunk in self._chunks:
                block += chunk
                if len(block) >= at_least:
                    break
        return bytes(block)

    def close(self) -> None:
        with self._producing:
            chunks, self._chunks = self._chunks, iter(())
            try:
                if close := getattr(chunks, "close", None):
                    close()
            finally:
                self._slot.free()


class _Blocks(_Content):
    """The content under ASGI. The connection of each thread returns to the pool after its block."""

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        block = await in_thread_of(THREADS, self.read, BLOCK_BYTES)
        if not block:
            raise StopAsyncIteration
        return block


class _Chunks(_Content):
    """The content under WSGI, which tests use."""

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> bytes:
        chunk = self.read(1)
        if not chunk:
            raise StopIteration
        return chunk
