"""Sessions as files: export one, import one."""

from datetime import UTC, datetime
from typing import Any, Final, cast

from django.http import StreamingHttpResponse
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from drf_spectacular.types import OpenApiTypes
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Session
from chat.protocol.errors import ApiError
from chat.sessions.portable.exporter import as_json
from chat.sessions.portable.importer import import_session
from chat.sessions.portable.markdown import as_markdown
from web.rest.openapi import documented
from web.rest.parser import StrictJSONParser
from web.rest.schemas import SessionAnswer
from web.rest.sessions import own_session, readable_shape
from web.rest.streaming import served
from web.rest.view import Endpoint, user_of

_KINDS: Final = {"json": ("application/json", "json"), "markdown": ("text/markdown; charset=utf-8", "md")}


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
            raise ApiError("invalid_value", "Ask for json or markdown.", field="as")
        whole = request.query_params.get("whole", "0")
        if whole not in ("0", "1"):
            raise ApiError("invalid_value", "0 or 1.", field="whole")
        pieces = as_json(found) if kind == "json" else as_markdown(found, whole=whole == "1")
        content_type, ending = _KINDS[kind]
        headers = {"Content-Disposition": content_disposition_header(True, _name(found, ending))}
        content = served(request._request, pieces)  # noqa: SLF001  what the server gave
        return StreamingHttpResponse(content, content_type=content_type, headers=headers)


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
