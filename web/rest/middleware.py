"""Every request has an id, accepted from or given to the client; errors below /api/ have one shape."""

import re
import uuid
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, Final

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase

from web.rest.errors import in_our_shape

_ACCEPTED: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_JSON_ONLY: Final = ("/api/", "/health/")


class RequestIds:
    """Outermost, so that it sees the pages Django makes of exceptions in other middleware."""

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
        return _finished_later(request, response) if isawaitable(response) else _finished(request, response)


async def _finished_later(request: HttpRequest, response: Awaitable[HttpResponseBase]) -> HttpResponseBase:
    return _finished(request, await response)


def _finished(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if request.path.startswith(_JSON_ONLY):
        response = in_our_shape(request, response)
    response["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
    return response
