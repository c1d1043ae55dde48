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
from chat.sessions.foreign_exports import export_zip
from chat.sessions.foreign_exports.foreign_importer import Outcome, Part, import_conversations
from web.rest.api_view import StrictAPIView, current_user
from web.rest.foreign_files import ForeignFiles
from web.rest.import_slots import import_slot
from web.rest.openapi import documented
from web.rest.session_archives import SessionArchiveParser


class ForeignExportParser(SessionArchiveParser):
    """A parser that stores the JSON in a temporary file.
    It may be as large as an archive: it is never decoded as a whole.
    """

    media_type = "application/octet-stream"


class ForeignImportView(StrictAPIView):
    parser_classes = [ForeignExportParser]

    @documented(
        "sessions_import_foreign",
        body={"application/octet-stream": OpenApiTypes.BINARY},
        answer=ForeignImportAnswer,
    )
    def post(self, request: Request) -> Response:
        """Import the conversations of an export of ChatGPT, Claude, DeepSeek, Open WebUI or LibreChat.

        The body is the export's JSON file or, for the first three, its zip file, unchanged; the first bytes tell which
        it is. A zip must have, at any depth in one folder, `conversations.json`, or `conversations-000.json` and its
        successors. ChatGPT's files of questions, whose names begin with their ids, are read too. A zip that is damaged
        or encrypted or has no conversations is refused (`invalid_value`).
        Each conversation becomes a session with all its branches. `refused` names those that cannot be read; the others
        are imported. A file that is sent again adds only what is missing. Pictures of questions that are data URLs
        become files.
        """
        user = current_user(request)
        with import_slot(user.pk):
            # Without a body, no parser is called.
            if isinstance(request.data, dict):
                raise ApiError("file_empty")
            body = cast("IO[bytes]", request.data)
            with body:
                outcome = _import(user, body)
        return Response(ForeignImportAnswer.from_row(outcome).json())


def _import(user: User, body: IO[bytes]) -> Outcome:
    """Import from mapped files, which are never in memory as a whole, one conversation at a time. Raises ApiError."""
    if export_zip.is_archive(body):
        with export_zip.unpacked(body, settings.MAX_IMPORT_BYTES) as export:
            return import_conversations(user, export.parts, ForeignFiles(user, export.archive, export.files))
    body.flush()
    with mmap.mmap(body.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return import_conversations(user, [Part("", content)], ForeignFiles(user, None, {}))
