"""The view of a file's extracted text."""

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request

from chat.protocol.errors import ApiError
from knowledge.models import File, FileStatus
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import documented
from web.rest.request_slots import EXPENSIVE


class FileTextView(StrictAPIView):
    slots = EXPENSIVE

    @documented("files_text", answer={"text/plain": OpenApiTypes.STR})
    def get(self, request: Request, file: str) -> HttpResponse:
        """Read the text that models read. The text of a picture is empty."""
        found = get_own_row(File.objects.visible_to(current_user(request)), file, "file")
        check_read(found)
        return text_response(found)


def check_read(file: File) -> None:
    """Raise ApiError unless the text of the file was extracted."""
    if file.status == FileStatus.PROCESSING:
        raise ApiError("file_processing")
    if file.status == FileStatus.FAILED:
        raise ApiError("file_failed", error=file.error_code)


def text_response(file: File) -> HttpResponse:
    headers = {
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    return HttpResponse(file.text, content_type="text/plain; charset=utf-8", headers=headers)
