"""Sessions as files: export one, import one."""

from collections.abc import AsyncIterator, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final, cast

from django.core.handlers.asgi import ASGIRequest
from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from drf_spectacular.types import OpenApiTypes
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.api.answers import SessionAnswer
from chat.api.documented import documented
from chat.api.endpoint import Endpoint, user_of
from chat.api.parser import StrictJSONParser
from chat.api.sessions import own_session, readable_shape
from chat.models import Session
from chat.portable.markdown import as_markdown
from chat.portable.storing import import_session
from chat.portable.writing import as_json
from chat.refusals import Refusal
from chat.threads import in_thread

_KINDS: Final = {"json": ("application/json", "json"), "markdown": ("text/markdown; charset=utf-8", "md")}
# So much is read in one visit to a thread.
_PIECE_BYTES: Final = 256 * 1024


class FileParser(StrictJSONParser):
    """A session's file is longer than any other body."""

    max_bytes = 32 * 1024 * 1024


class ExportView(Endpoint):
    @documented(
        "sessions_export",
        answer=OpenApiTypes.BINARY,
        query={"as": "json (default: the whole tree) or markdown", "whole": "1: every branch as Markdown"},
    )
    def get(self, request: Request, session: str) -> StreamingHttpResponse:
        """A file: the whole tree as JSON, which can be imported, or the current branch as Markdown."""
        found = own_session(request, session)
        kind = request.query_params.get("as", "json")
        if kind not in _KINDS:
            raise Refusal("invalid_value", "Ask for json or markdown.", field="as")
        whole = request.query_params.get("whole", "0")
        if whole not in ("0", "1"):
            raise Refusal("invalid_value", "0 or 1.", field="whole")
        pieces = as_json(found) if kind == "json" else as_markdown(found, whole=whole == "1")
        content_type, ending = _KINDS[kind]
        headers = {"Content-Disposition": content_disposition_header(True, _name(found, ending))}
        return StreamingHttpResponse(_served(request, pieces), content_type=content_type, headers=headers)


class ImportView(Endpoint):
    parser_classes = [FileParser]

    @documented("sessions_import", body=OpenApiTypes.OBJECT, answer=SessionAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """What an export as JSON wrote, stored as a new session; nothing of it runs. Bad input stores nothing."""
        session = import_session(user_of(request), cast("dict[str, Any]", request.data))
        return Response(readable_shape(session), status.HTTP_201_CREATED)


def _name(session: Session, ending: str) -> str:
    return (
        f"{slugify(session.title, allow_unicode=True)[:60] or 'chat'}-{datetime.now(UTC):%Y-%m-%d}.{ending}"
    )


def _served(request: Request, pieces: Iterator[bytes]) -> Iterable[bytes] | AsyncIterator[bytes]:
    """As the server at hand takes it in pieces: both can only forward their own kind of iterator."""
    return _in_threads(pieces) if isinstance(request._request, ASGIRequest) else pieces  # noqa: SLF001


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
