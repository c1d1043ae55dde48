"""Uploads: bodies are parsed in bounded memory, checked against type and quota, and stored."""

import tempfile
from collections.abc import Iterator, Mapping
from typing import IO, Annotated, Any, Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from msgspec import Meta

# Imported when the process starts, not with the first upload: during its import, a package of the same name
# (python-multipart) is replaced by this one, and a second thread would find it empty.
from multipart import MultipartError, MultipartSegment, PushMultipartParser, parse_options_header
from rest_framework.parsers import BaseParser

from chat.protocol.errors import ApiError
from chat.protocol.strict_json import MAX_VALUES, decode, is_storable
from chat.runs import new_files
from knowledge.files import blobs
from knowledge.files.file_types import HEAD_BYTES
from knowledge.models import File, Project

# Bytes beside the file: boundaries, headers (a name of 4,096 characters, percent-encoded, has 48 KiB) and text fields.
FORM_BYTES: Final = 256 * 1024
MAX_HEADER_BYTES: Final = 64 * 1024
MAX_FIELD_BYTES: Final = 1024
MAX_PARTS: Final = 10
FILE_FIELD: Final = "file"
TEXT_FIELDS: Final = ("project", "title")
# A larger content is stored in a temporary file without a name.
IN_MEMORY_BYTES: Final = 1024 * 1024
_READ_BYTES: Final = 256 * 1024
# The file of a form, in the OpenAPI document.
FormFile = Annotated[str, Meta(extra_json_schema={"contentMediaType": "application/octet-stream"})]


class UploadedContent:
    """The one file of a form: its name as sent, its size in bytes, and its content, which close() discards."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.size = 0
        self.content: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY_BYTES)  # noqa: SIM115

    def write(self, data: bytes) -> None:
        self.size += len(data)
        if self.size > settings.MAX_FILE_BYTES:
            raise too_large()
        self.content.write(data)

    def head(self) -> bytes:
        self.content.seek(0)
        return self.content.read(HEAD_BYTES)

    def close(self) -> None:
        self.content.close()

    # A request may be refused, for example for its CSRF token, after its form was read and before a view has it.
    __del__ = close


def too_large() -> ApiError:
    return ApiError("file_too_large", limit=settings.MAX_FILE_BYTES)


class FileFormParser(BaseParser):
    """A parser that returns {field: text or UploadedContent}."""

    media_type = "multipart/form-data"
    # For web/rest/request_bodies.py: a longer body is not received to its end.
    max_bytes = settings.MAX_FILE_BYTES + FORM_BYTES
    too_large = staticmethod(too_large)

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        form: dict[str, Any] = {}
        try:
            self._read_parts(stream, _boundary(media_type), form)
        except MultipartError:
            raise ApiError("invalid_multipart") from None
        return form

    def _read_parts(self, stream: IO[Any], boundary: str, form: dict[str, Any]) -> None:
        parser = PushMultipartParser(
            boundary, max_header_size=MAX_HEADER_BYTES, max_segment_count=MAX_PARTS, strict=True
        )
        name, text = "", bytearray()
        with parser:
            for event in _events(parser, stream, self.max_bytes):
                if isinstance(event, MultipartSegment):
                    name, text = _begin(event, form), bytearray()
                elif event is None:
                    form[name] = (
                        form[name] if isinstance(form[name], UploadedContent) else _decode(text, name)
                    )
                elif isinstance(form[name], UploadedContent):
                    form[name].write(event)
                else:
                    text += event
                    if len(text) > MAX_FIELD_BYTES:
                        raise ApiError("invalid_value", field=name)


def _boundary(media_type: str | None) -> str:
    boundary = parse_options_header(media_type or "")[1].get("boundary", "")
    if not boundary or len(boundary) > 200:
        raise ApiError("invalid_multipart")
    return str(boundary)


def _events(parser: Any, stream: IO[Any], max_bytes: int) -> Iterator[Any]:
    received = 0
    while not parser.closed:
        data = stream.read(_READ_BYTES)
        received += len(data)
        if received > max_bytes:
            raise too_large()
        yield from parser.parse(data)
        if not data:
            return


def _begin(segment: Any, form: dict[str, Any]) -> str:
    """Add the part to the form and return its name, which must be new. Raises ApiError."""
    name = segment.name or ""
    if not name or not is_storable(name) or name in form:
        raise ApiError("invalid_multipart")
    # Some clients send no file name. Any other part is a text: views rely on that.
    is_file = name == FILE_FIELD
    if segment.filename is not None and not is_file and name in TEXT_FIELDS:
        raise ApiError("invalid_type", field=name)
    form[name] = UploadedContent(segment.filename or "") if is_file else ""
    return str(name)


def _decode(text: bytearray, name: str) -> str:
    try:
        decoded = text.decode()
    except UnicodeDecodeError:
        raise ApiError("invalid_encoding", field=name) from None
    if not is_storable(decoded):
        raise ApiError("invalid_characters", field=name)
    return decoded


# The longest accepted message, every character written as a surrogate pair of \u escapes, is 1.2 MB.
MAX_BODY_BYTES: Final = 8 * 1024 * 1024


class StrictJSONParser(BaseParser):
    media_type = "application/json"
    max_bytes = MAX_BODY_BYTES
    max_values = MAX_VALUES

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,  # noqa: ARG002
        parser_context: Mapping[str, Any] | None = None,  # noqa: ARG002
    ) -> dict[str, Any]:
        body = stream.read(self.max_bytes + 1)
        if len(body) > self.max_bytes:
            raise ApiError("body_too_large", limit=self.max_bytes)
        return decode(body, max_values=self.max_values)


def store_upload(
    user: User, upload: UploadedContent, project: Project | None = None, pk: UUID | None = None
) -> File:
    """Store the content, then its row, and enqueue the extraction. Raises ApiError; then nothing is stored.

    pk: the id of the row; None: a new one.

    If the process dies in between, the sweeper deletes the content without a row, or enqueues the row.
    """
    file = describe_upload(user, upload)
    file.pk, file.project = pk or file.pk, project
    new_files.check_room(user, upload.size)  # before the content is stored; checked again with the row
    store_content(upload, file)
    with blobs.discarded_on_failure([str(file.content.name)]):
        new_files.store_row(user, file)
    return file


def describe_upload(user: User, upload: UploadedContent) -> File:
    """Return the row of an accepted content, not stored yet. Raises ApiError."""
    return new_files.describe_file(user, upload.name, upload.head(), upload.size)


def store_content(upload: UploadedContent, file: File) -> None:
    """Store the content; without its row, stored later, the sweeper deletes it. Raises ApiError."""
    new_files.store_content(upload.content, file)
