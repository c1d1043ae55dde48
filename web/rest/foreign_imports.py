"""The view that imports the conversations of another product's export."""

import mmap
from typing import IO, cast

from django.conf import settings
from django.contrib.auth.models import User
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from chat.presenters.foreign_imports import ForeignImportAnswer
from chat.protocol.errors import ApiError
from chat.sessions.foreign_exports import archive
from chat.sessions.foreign_exports.importer import Outcome, Part, import_conversations
from web.rest.api_view import StrictAPIView, current_user
from web.rest.foreign_files import ForeignFiles
from web.rest.import_slots import import_slot
from web.rest.openapi import documented
from web.rest.session_archives import SessionArchiveParser


class ForeignExportParser(SessionArchiveParser):
    """The JSON as a temporary file, which may be as large as an archive: it is never decoded as a whole."""

    media_type = "application/octet-stream"


class ForeignImportView(StrictAPIView):
    parser_classes = [ForeignExportParser]

    @documented(
        "sessions_import_foreign",
        body={"application/octet-stream": OpenApiTypes.BINARY},
        answer=ForeignImportAnswer,
    )
    def post(self, request: Request) -> Response:
        """Import the conversations of an export of ChatGPT, Claude, DeepSeek, Open WebUI or LibreChat: its JSON file, or the zip of the
        first three, as it is.

        Whether it is a zip, its first bytes say. Of a zip, `conversations.json` is read, or `conversations-000.json` and those that
        follow, at any depth in one folder, and ChatGPT's files of questions, whose names begin with their ids; a zip that is damaged or encrypted or has none of them is refused (`invalid_value`).

        Each becomes a session with all its branches; those that cannot be read are named in `refused`, and the others are
        imported. A file that is sent again adds only what is missing. Pictures of questions that are data URLs become files.
        """
        user = current_user(request)
        with import_slot(user.pk):
            # Without a body, no parser is asked.
            if isinstance(request.data, dict):
                raise ApiError("file_empty")
            body = cast("IO[bytes]", request.data)
            with body:
                outcome = _import(user, body)
        return Response(ForeignImportAnswer.from_row(outcome).json())


def _import(user: User, body: IO[bytes]) -> Outcome:
    """Conversations are taken from mapped files one by one."""
    if archive.is_archive(body):
        with archive.unpacked(body, settings.MAX_IMPORT_BYTES) as export:
            return import_conversations(user, export.parts, ForeignFiles(user, export.archive, export.files))
    body.flush()
    with mmap.mmap(body.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return import_conversations(user, [Part("", content)], ForeignFiles(user, None, {}))
