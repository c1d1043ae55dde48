"""The routes that export a session to a file, and import files of sessions and exports of other products."""

from datetime import UTC, datetime
from typing import Any, Final

from django.http import StreamingHttpResponse
from django.urls import path
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Session
from chat.presenters.sessions import SessionAnswer
from chat.protocol.errors import ApiError
from chat.sessions.portable import format as f
from chat.sessions.portable.archive_writer import as_zip
from chat.sessions.portable.exporter import as_json
from chat.sessions.portable.format import Portable
from chat.sessions.portable.importer import import_session
from chat.sessions.portable.markdown import as_markdown
from chat.sessions.settings import check_listed
from features.transfer.foreign_imports import ForeignImportView
from features.transfer.session_archives import SessionArchiveParser, import_archive
from web.rest.api_view import StrictAPIView, current_user, query_flag
from web.rest.openapi import documented, query
from web.rest.request_slots import EXPORTS, import_slot
from web.rest.sessions import get_own_session, present_current
from web.rest.streaming import streamed
from web.rest.uploads import StrictJSONParser

_KINDS: Final = {
    "json": ("application/json", "json"),
    "markdown": ("text/markdown; charset=utf-8", "md"),
    "zip": ("application/zip", "zip"),
}
_EXPORTERS: Final = {"json": as_json, "zip": as_zip}


class SessionFileParser(StrictJSONParser):
    """A parser that accepts longer bodies than other views: a whole session."""

    max_bytes = f.MAX_BYTES
    max_values = f.MAX_VALUES


class ExportView(StrictAPIView):
    @documented(
        "sessions_export",
        answer={
            "application/json": Portable,
            "text/markdown": OpenApiTypes.STR,
            "application/zip": OpenApiTypes.BINARY,
        },
        parameters=[
            query(
                "as",
                {"type": "string", "enum": [*_KINDS], "default": "json"},
                "`json`: the whole tree; `zip`: with the contents of its files; `markdown`: the current branch.",
            ),
            query(
                "whole",
                {"type": "string", "enum": ["0", "1"], "default": "0"},
                "`1`: every branch as Markdown.",
            ),
            OpenApiParameter(
                "Content-Disposition",
                OpenApiTypes.STR,
                OpenApiParameter.HEADER,
                response=[200],
                required=True,
            ),
        ],
    )
    def get(self, request: Request, session: str) -> StreamingHttpResponse:
        """Download the whole tree as JSON or with its files as zip, which can be imported, or as Markdown."""
        found = get_own_session(request, session)
        check_listed(found)
        kind = request.query_params.get("as", "json")
        if kind not in _KINDS:
            raise ApiError("invalid_value", "Ask for json, zip or markdown.", field="as")
        whole = query_flag(request, "whole") or False
        chunks = as_markdown(found, whole=whole) if kind == "markdown" else _EXPORTERS[kind](found)
        content_type, ending = _KINDS[kind]
        headers = {"Content-Disposition": content_disposition_header(True, _file_name(found, ending))}
        slot = EXPORTS.take(current_user(request).pk)
        own = request._request  # noqa: SLF001  the server's own request
        return streamed(own, chunks, slot, content_type=content_type, headers=headers)


class ImportView(StrictAPIView):
    parser_classes = [SessionFileParser, SessionArchiveParser]

    @documented(
        "sessions_import",
        body={"application/json": Portable, "application/zip": OpenApiTypes.BINARY},
        answer=SessionAnswer,
        statuses=(201,),
    )
    def post(self, request: Request) -> Response:
        """Store an export, JSON or zip, as a new session. Its content is never executed; invalid input stores nothing.

        The files of a zip are treated like uploads: checked, counted, and their texts extracted afterwards.
        """
        user = current_user(request)
        # Before the body is decoded.
        with import_slot(user.pk):
            data: Any = request.data
            session = import_session(user, data) if isinstance(data, dict) else import_archive(user, data)
        return Response(present_current(session), status.HTTP_201_CREATED)


def _file_name(session: Session, ending: str) -> str:
    return (
        f"{slugify(session.title, allow_unicode=True)[:60] or 'chat'}-{datetime.now(UTC):%Y-%m-%d}.{ending}"
    )


urlpatterns = [
    path("sessions/import/", ImportView.as_view()),
    path("sessions/import/foreign/", ForeignImportView.as_view()),
    path("sessions/<id:session>/export/", ExportView.as_view()),
]
