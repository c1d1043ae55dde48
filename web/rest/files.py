"""Views of files: upload, list, read, delete, download."""

import logging
import re
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from typing import Any, Final, NamedTuple, cast
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import content_disposition_header, quote_etag
from drf_spectacular.types import OpenApiTypes
from msgspec import UNSET, UnsetType
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.events import session_list
from chat.models import ModelConfig
from chat.presenters.files import FileAnswer, present_file
from chat.protocol.body import Body
from chat.protocol.errors import ApiError
from knowledge.files import blobs
from knowledge.models import File, Project, ServedVersion
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.multipart_form import FileFormParser, FormFile, UploadedContent
from web.rest.openapi import documented
from web.rest.pagination import PAGE_PARAMETERS, NewestFirstPagination, Page
from web.rest.request_slots import DOWNLOADS
from web.rest.streaming import streamed
from web.rest.uploads import store_upload

# Longer numbers are no positions in any file.
_ONE_RANGE: Final = re.compile(r"bytes=(\d{0,19})-(\d{0,19})")


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


logger = logging.getLogger(__name__)

_SAFE_HEADERS: Final = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
}
# A content type that a header may contain. Rows may be older than the check of content types from servers.
_TYPE: Final = re.compile(r"[!-~]+/[ -~]+")
# A path in the storage always has the same picture; its owner does not change either.
_THUMBNAIL_CACHING: Final = "private, max-age=86400, immutable"


class FilePage(Page):
    results: list[FileAnswer]


class FileForm(Body):
    """The description of the form that FileFormParser reads."""

    file: FormFile
    project: UUID | UnsetType = UNSET


class NewestUploadPagination(NewestFirstPagination):
    ordering = ("-created_at", "-id")


class FilesView(StrictAPIView):
    parser_classes = [FileFormParser]

    @documented(
        "files_list",
        answer=FilePage,
        parameters=PAGE_PARAMETERS,
    )
    def get(self, request: Request) -> Response:
        """List the user's files, the newest first."""
        page = NewestUploadPagination()
        files = File.objects.visible_to(current_user(request)).defer("text")
        models = list(ModelConfig.objects.offered())
        rows = page.paginate_queryset(files, request, view=self) or []
        return page.get_paginated_response([present_file(file, models) for file in rows])

    @documented("files_create", body={"multipart/form-data": FileForm}, answer=FileAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """Upload a file. Its text is extracted afterwards; a frame of type `file` on the socket tells when."""
        form = cast("dict[str, Any]", request.data)
        file = store_upload(current_user(request), _checked(form), _own_project(request, form))
        return Response(_present(file), status.HTTP_201_CREATED)


class FileView(StrictAPIView):
    @documented("files_read", answer=FileAnswer)
    def get(self, request: Request, file: str) -> Response:
        """Read the metadata of a file."""
        return Response(_present(_get_downloadable(request, file)))

    @documented("files_delete", statuses=(204,))
    def delete(self, request: Request, file: str) -> Response:
        """Delete a file with its content. It is removed from the messages that it was attached to."""
        found = _get_own_file(request, file)
        project = found.project
        found.delete()
        blobs.purge_on_commit()
        if project:
            session_list.publish_project(project)
        return Response(status=status.HTTP_204_NO_CONTENT)


class FileContentView(StrictAPIView):
    @documented("files_download", answer={"*/*": OpenApiTypes.BINARY}, statuses=(200, 206))
    def get(self, request: Request, file: str) -> HttpResponseBase:
        """Download the content, or the part that `Range` names."""
        return content_response(request, _get_downloadable(request, file))


class FileThumbnailView(StrictAPIView):
    @documented("files_thumbnail", answer={"image/webp": OpenApiTypes.BINARY})
    def get(self, request: Request, file: str) -> HttpResponseBase:
        """Read the small copy of a picture: upright, at most 256 pixels on its longer side. Browsers may cache it."""
        found = _get_downloadable(request, file)
        if not found.thumbnail:
            raise ApiError("file_not_found")
        etag = quote_etag(found.thumbnail.removeprefix(f"{blobs.FOLDER}/"))
        own = request._request  # noqa: SLF001  the server's own request
        response = get_conditional_response(own, etag=etag) or _thumbnail(found)
        response.headers["ETag"] = etag
        response.headers["Cache-Control"] = _THUMBNAIL_CACHING
        # Browsers drop it when the login changes.
        patch_vary_headers(response, ["Cookie", "Authorization"])
        return response


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


def _thumbnail(file: File) -> HttpResponse:
    headers = {**_SAFE_HEADERS, "Content-Type": "image/webp", "Content-Disposition": "inline"}
    with _storage_errors():
        return HttpResponse(blobs.read_whole(file.thumbnail), headers=headers)


def _checked(form: dict[str, Any]) -> UploadedContent:
    """Return the file of a form, which may have only known fields. Raises ApiError."""
    for name in form:
        if name not in ("file", "project"):
            raise ApiError("unknown_field", field=name[:100])
    if "file" not in form:
        raise ApiError("field_required", field="file")
    if not isinstance(form["file"], UploadedContent):
        raise ApiError("invalid_type", field="file")
    return form["file"]


def _own_project(request: Request, form: dict[str, Any]) -> Project | None:
    if "project" not in form:
        return None
    return get_own_row(
        Project.objects.visible_to(current_user(request)), form["project"], "project", field="project"
    )


def _get_own_file(request: Request, pk: str) -> File:
    return get_own_row(File.objects.visible_to(current_user(request)).defer("text"), pk, "file")


def _get_downloadable(request: Request, pk: str) -> File:
    return get_own_row(File.objects.downloadable_by(current_user(request)).defer("text"), pk, "file")


def _present(file: File) -> dict[str, Any]:
    return present_file(file, ModelConfig.objects.offered())


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
