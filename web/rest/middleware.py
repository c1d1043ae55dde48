"""Gives every request an id, the client's or a new one, which its log records and turns carry; and errors below /api/ the API's error shape."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase

from chat.infrastructure import log_context
from web.rest.errors import busy_page, convert_error_page, request_id

logger = logging.getLogger(__name__)
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
        request.request_id = log_context.accept_request_id(request.headers.get("X-Request-ID"))  # type: ignore[attr-defined]
        if iscoroutinefunction(self.get_response):
            return self._call_async(request)
        with log_context.bound(request_id=request.request_id):  # type: ignore[attr-defined]
            return _finish(request, self.get_response(request))

    async def _call_async(self, request: HttpRequest) -> HttpResponseBase:
        with log_context.bound(request_id=request.request_id):  # type: ignore[attr-defined]
            return _finish(request, await self.get_response(request))

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        """Of views outside DRF: what is temporary is no error of ours, and worth another try."""
        page = busy_page(error)
        if page is not None and page.status_code >= 500:
            logger.error("request %s failed", request_id(request), exc_info=error)
        return page


def _finish(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if request.path.startswith(_JSON_ONLY):
        response = convert_error_page(request, response)
        # What one user reads is for no cache, in the browser or on the way.
        response.headers.setdefault("Cache-Control", "no-store")
    response["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
    return response
