"""Import of a session with its files from a zip archive: its body, and the contents, which are treated like uploads."""

import tempfile
from collections.abc import Mapping
from hashlib import sha256
from typing import IO, Any, Final

from django.conf import settings
from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.parsers import BaseParser

from chat.infrastructure.fault_points import reach
from chat.models import Session
from chat.protocol.errors import ApiError
from chat.sessions.portable import format as f
from chat.sessions.portable.archive_reader import SessionArchive
from chat.sessions.portable.importer import check_room, store_session
from chat.sessions.portable.parser import parse
from knowledge.files import blobs
from knowledge.models import File, FileKind
from web.rest import uploads
from web.rest.uploads import IN_MEMORY_BYTES, UploadedContent

_READ_BYTES: Final = 256 * 1024


class _TemporaryBody(tempfile.SpooledTemporaryFile[bytes]):
    """A temporary file that is closed at the latest when it is unreferenced.
    The CSRF check parses bodies that no view receives.
    """

    def __del__(self) -> None:
        self.close()


class SessionArchiveParser(BaseParser):
    """A parser that returns the body in a temporary file without a name, which the view closes."""

    media_type = "application/zip"
    max_bytes = settings.MAX_IMPORT_BYTES

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> Any:
        body: IO[bytes] = _TemporaryBody(max_size=IN_MEMORY_BYTES)
        while data := stream.read(_READ_BYTES):
            body.write(data)
            if body.tell() > self.max_bytes:
                body.close()
                raise ApiError("body_too_large", limit=self.max_bytes)
        return body


def import_archive(user: User, body: IO[bytes]) -> Session:
    """Store the session and its files. Raises ApiError; then nothing is stored.

    The contents are stored before their rows: if the process dies in between, the sweeper deletes them.
    """
    stored: dict[str, File] = {}
    paths: list[str] = []
    with body, SessionArchive(body, settings.MAX_IMPORT_BYTES) as archive:
        portable = parse(archive.manifest(), timezone.now())
        given = archive.files_of(portable.messages)
        size = sum(placed.file.size or 0 for placed in given.values())
        images = sum(placed.is_image for placed in given.values())
        check_room(user, size, len(given) - images, images)
        with blobs.discarded_on_failure(paths):
            for entry, placed in given.items():
                stored[entry] = file = _store_content(user, archive, entry, placed)
                paths.append(str(file.content.name))
            reach("after_contents_imported")
            return store_session(user, portable, stored)


def _store_content(user: User, archive: SessionArchive, entry: str, placed: f.PlacedFile) -> File:
    """Store one file of the archive. Only its name comes from the manifest: the content determines its type."""
    upload = UploadedContent(placed.file.name)
    try:
        _unpack(archive, entry, placed.file, upload)
        file = uploads.describe_upload(user, upload)
        file.is_tool_image = placed.is_image
        _check_kind(file, placed)
        uploads.store_content(upload, file)
    except ApiError as refusal:
        refusal.field = refusal.field and entry
        raise
    finally:
        upload.close()
    return file


def _check_kind(file: File, placed: f.PlacedFile) -> None:
    """Check that what a tool returned is an image: the reader of tools' images expects nothing else."""
    if placed.is_image and file.kind != FileKind.IMAGE:
        raise ApiError("invalid_value", "This is no image.", field=placed.file.entry)


def _unpack(archive: SessionArchive, entry: str, given: f.File, into: UploadedContent) -> None:
    digest = sha256()
    for chunk in archive.read(entry):
        into.write(chunk)
        digest.update(chunk)
    if digest.hexdigest() != given.sha256 or given.size not in (None, into.size):
        raise ApiError("invalid_value", "The content is not what the manifest describes.", field=entry)
