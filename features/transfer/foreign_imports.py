"""The view that imports the conversations of another product's export, and the storage of its files, as for uploads."""

import logging
import mmap
from collections.abc import Iterable, Iterator
from typing import IO, cast

from django.conf import settings
from django.contrib.auth.models import User
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request
from rest_framework.response import Response

from chat.protocol.errors import ApiError
from chat.sessions.portable.archive_reader import ZipReader
from features.transfer.foreign_exports import export_zip
from features.transfer.foreign_exports.foreign_importer import (
    ForeignImportAnswer,
    Outcome,
    Part,
    import_conversations,
)
from features.transfer.session_archives import SessionArchiveParser
from knowledge.models import File
from web.rest import uploads
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import documented
from web.rest.request_slots import import_slot
from web.rest.uploads import UploadedContent


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


logger = logging.getLogger(__name__)


class ForeignFiles:
    """The implementation of attachments.Contents.
    archive: None if the export has no files. entries: names of the archive's entries, by source.
    """

    def __init__(self, user: User, archive: ZipReader | None, entries: dict[str, str]) -> None:
        self._user, self._archive, self._entries = user, archive, entries

    def size(self, source: str) -> int | None:
        entry = self._entries.get(source)
        if self._archive is None or entry is None:
            return None
        return self._archive.entries[entry].file_size

    def read(self, source: str) -> Iterator[bytes]:
        return self._archive.read(self._entries[source]) if self._archive else iter(())

    def store(self, name: str, content: Iterable[bytes]) -> File | ApiError:
        """Store the file.
        Return an error instead if it is damaged, empty, too large or of another type than its name says.
        """
        upload = UploadedContent(name)
        try:
            try:
                for chunk in content:
                    upload.write(chunk)
                file = uploads.describe_upload(self._user, upload)
            except ApiError as refusal:
                logger.info(
                    "a file of an imported chat of user %s is refused: %s", self._user.pk, refusal.code
                )
                return refusal
            uploads.store_content(upload, file)
            return file
        finally:
            upload.close()
