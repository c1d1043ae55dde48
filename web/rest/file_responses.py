"""What files and documents answer with: their text, their content, or a part of either. A browser runs nothing of it."""

import logging
import re
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import Final, NamedTuple, cast

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.http import content_disposition_header
from rest_framework.request import Request

from chat.protocol.errors import ApiError
from knowledge.files import blobs
from knowledge.models import File, FileStatus, ServedVersion
from web.rest.api_view import current_user
from web.rest.openapi import query, whole_number
from web.rest.pagination import MAX_COUNT, parse_count
from web.rest.request_slots import DOWNLOADS
from web.rest.streaming import streamed

logger = logging.getLogger(__name__)

_SAFE_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
}
# A content type that a header may contain. Rows may be older than the check of content types from servers.
_TYPE: Final = re.compile(r"[!-~]+/[ -~]+")
# Longer numbers are no positions in any file.
_ONE_RANGE: Final = re.compile(r"bytes=(\d{0,19})-(\d{0,19})")
PART: Final = [
    query("start", whole_number(0, MAX_COUNT), "Of a part: its first character, from 0, the default."),
    query("length", whole_number(0, MAX_COUNT), "Of a part: how many characters; default: to the end."),
]


class ByteRange(NamedTuple):
    """The bytes from `start` to before `stop`."""

    start: int
    stop: int


def parse_range(header: str, size: int) -> ByteRange | None:
    """Return the requested range; None for the whole content. Raises ApiError if the content does not have the range.

    The whole content is sent without a range, or for a form that servers may ignore, such as several ranges.
    """
    match = _ONE_RANGE.fullmatch(header.strip())
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if first and last and int(first) > int(last):
        return None
    start = int(first) if first else max(0, size - int(last))
    stop = min(size, int(last) + 1) if first and last else size
    if start >= size:
        raise ApiError("invalid_range", size=size)
    return ByteRange(start, stop)


def content_response(request: Request, file: File | ServedVersion) -> HttpResponseBase:
    """Return the response with the content, or the part that `Range` names. Raises ApiError."""
    slot = DOWNLOADS.take(current_user(request).pk)
    size = _stored_size(file)
    wanted = parse_range(request.headers.get("Range", ""), size)
    part = wanted or ByteRange(0, size)
    own = request._request  # noqa: SLF001  the server's own request
    headers = {
        **_SAFE_HEADERS,
        "Accept-Ranges": "bytes",
        "Content-Type": file.content_type
        if _TYPE.fullmatch(file.content_type)
        else "application/octet-stream",
        "Content-Disposition": content_disposition_header(True, file.name),
        "Content-Length": str(part.stop - part.start),
    }
    if wanted:
        headers["Content-Range"] = f"bytes {part.start}-{part.stop - 1}/{size}"
    return streamed(own, _read(file, part), slot, status=206 if wanted else 200, headers=headers)


def thumbnail_response(file: File) -> HttpResponse:
    headers = {**_SAFE_HEADERS, "Content-Type": "image/webp", "Content-Disposition": "inline"}
    with _storage_errors():
        return HttpResponse(blobs.read_whole(file.thumbnail), headers=headers)


def check_read(file: File) -> None:
    """Raise ApiError unless the text of the file was extracted."""
    if file.status == FileStatus.PROCESSING:
        raise ApiError("file_processing")
    if file.status == FileStatus.FAILED:
        raise ApiError("file_failed", error=file.error_code)


def text_response(file: File, request: Request) -> HttpResponse:
    """Respond with the text, or with the part that `start` and `length` name. Raises ApiError."""
    start = _count(request, "start", 0)
    end = start + _count(request, "length", MAX_COUNT)
    return HttpResponse(file.text[start:end], content_type="text/plain; charset=utf-8", headers=_SAFE_HEADERS)


def _count(request: Request, name: str, default: int) -> int:
    return parse_count(request.query_params, name, default, ApiError("invalid_value", field=name))


def _stored_size(file: File | ServedVersion) -> int:
    """Return the content's size in bytes. Raises ApiError if it is not in the storage."""
    if not file.content:
        raise ApiError("file_not_found")
    with _storage_errors():
        return blobs.size(str(file.content.name))


@contextmanager
def _storage_errors() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise ApiError("file_not_found") from None
    except OSError as error:
        logger.error("a content cannot be read: %s", error)  # noqa: TRY400  the storage is down, not this code
        raise ApiError(
            "file_storage_unavailable", "Files cannot be read at the moment. Try again later."
        ) from None


def _read(file: File | ServedVersion, part: ByteRange) -> Iterator[bytes]:
    """Return the chunks of the part. The first one is read now: ApiError is raised before the response has begun."""
    chunks = blobs.read(str(file.content.name), part.start, part.stop)
    with _storage_errors():
        first = next(chunks, b"")
    return _resumed(first, chunks)


def _resumed(first: bytes, chunks: Iterator[bytes]) -> Iterator[bytes]:
    """Yield `first`, then `chunks`.
    These hold a file or a connection to the storage, and are closed with this generator.
    """
    with closing(cast("Generator[bytes]", chunks)):
        yield first
        yield from chunks
