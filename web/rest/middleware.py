"""Gives every request an id, the client's or a new one, and errors below /api/ the API's error shape."""

import re
import uuid
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, Final

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase

from web.rest.errors import convert_error_page

_ACCEPTED: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_JSON_ONLY: Final = ("/api/", "/health/")


class RequestIdMiddleware:
    """Must be the outermost middleware, to convert the error pages of exceptions in other middleware."""

    sync_capable = True
    async_capable = True

    def __init__(self, get_response: Callable[[HttpRequest], Any]) -> None:
        self.get_response = get_response
        if iscoroutinefunction(get_response):
            markcoroutinefunction(self)

    def __call__(self, request: HttpRequest) -> HttpResponseBase | Awaitable[HttpResponseBase]:
        sent = request.headers.get("X-Request-ID", "")
        request.request_id = sent if _ACCEPTED.fullmatch(sent) else uuid.uuid4().hex  # type: ignore[attr-defined]
        response = self.get_response(request)
        return _finish_async(request, response) if isawaitable(response) else _finish(request, response)


async def _finish_async(request: HttpRequest, response: Awaitable[HttpResponseBase]) -> HttpResponseBase:
    return _finish(request, await response)


def _finish(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if request.path.startswith(_JSON_ONLY):
        response = convert_error_page(request, response)
    response["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
    return response
