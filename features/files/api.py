"""Routes of files: upload, list, read, delete, download."""

from typing import Any, Final, cast
from uuid import UUID

from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import path
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import quote_etag
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
from knowledge.models import File, Project
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.file_responses import PART, check_read, content_response, text_response, thumbnail_response
from web.rest.openapi import documented
from web.rest.pagination import PAGE_PARAMETERS, NewestUploadPagination, Page
from web.rest.request_slots import EXPENSIVE
from web.rest.uploads import FileFormParser, FormFile, UploadedContent, store_upload

# A path in the storage always has the same picture; its owner does not change either.
_THUMBNAIL_CACHING: Final = "private, max-age=86400, immutable"


class FilePage(Page):
    results: list[FileAnswer]


class FileForm(Body):
    """The description of the form that FileFormParser reads."""

    file: FormFile
    project: UUID | UnsetType = UNSET


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
        row = get_own_row(File.objects.visible_to(current_user(request)).defer("text"), file, "file")
        project = row.project
        row.delete()
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
        response = get_conditional_response(own, etag=etag) or thumbnail_response(found)
        response.headers["ETag"] = etag
        response.headers["Cache-Control"] = _THUMBNAIL_CACHING
        # Browsers drop it when the login changes.
        patch_vary_headers(response, ["Cookie", "Authorization"])
        return response


class FileTextView(StrictAPIView):
    slots = EXPENSIVE

    @documented("files_text", answer={"text/plain": OpenApiTypes.STR}, parameters=PART)
    def get(self, request: Request, file: str) -> HttpResponse:
        """Read the text that models read, or a part of it. The text of a picture is empty."""
        row = get_own_row(File.objects.visible_to(current_user(request)), file, "file")
        check_read(row)
        return text_response(row, request)


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


def _get_downloadable(request: Request, pk: str) -> File:
    return get_own_row(File.objects.downloadable_by(current_user(request)).defer("text"), pk, "file")


def _present(file: File) -> dict[str, Any]:
    return present_file(file, ModelConfig.objects.offered())


urlpatterns = [
    path("files/", FilesView.as_view()),
    path("files/<id:file>/", FileView.as_view()),
    path("files/<id:file>/content/", FileContentView.as_view()),
    path("files/<id:file>/thumbnail/", FileThumbnailView.as_view()),
    path("files/<id:file>/text/", FileTextView.as_view()),
]
