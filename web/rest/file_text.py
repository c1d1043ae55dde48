"""The view of a file's extracted text."""

from typing import Final

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from rest_framework.request import Request

from chat.protocol.errors import ApiError
from knowledge.models import File, FileStatus
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import documented, query, whole_number
from web.rest.pagination import MAX_COUNT, parse_count
from web.rest.request_slots import EXPENSIVE

PART: Final = [
    query("start", whole_number(0, MAX_COUNT), "Of a part: its first character, from 0, the default."),
    query("length", whole_number(0, MAX_COUNT), "Of a part: how many characters; default: to the end."),
]


class FileTextView(StrictAPIView):
    slots = EXPENSIVE

    @documented("files_text", answer={"text/plain": OpenApiTypes.STR}, parameters=PART)
    def get(self, request: Request, file: str) -> HttpResponse:
        """Read the text that models read, or a part of it. The text of a picture is empty."""
        found = get_own_row(File.objects.visible_to(current_user(request)), file, "file")
        check_read(found)
        return text_response(found, request)


def check_read(file: File) -> None:
    """Raise ApiError unless the text of the file was extracted."""
    if file.status == FileStatus.PROCESSING:
        raise ApiError("file_processing")
    if file.status == FileStatus.FAILED:
        raise ApiError("file_failed", error=file.error_code)


def text_response(file: File, request: Request) -> HttpResponse:
    """Respond with the text, or with the part that `start` and `length` name. Raises ApiError."""
    start = _count(request, "start", 0)
    end = start + _count(request, "length", MAX_COUNT)
    headers = {
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox; default-src 'none'",
    }
    return HttpResponse(file.text[start:end], content_type="text/plain; charset=utf-8", headers=headers)


def _count(request: Request, name: str, default: int) -> int:
    return parse_count(request.query_params, name, default, ApiError("invalid_value", field=name))
