"""Gives every request an id, the client's or a new one, which its log records and turns carry; errors below /api/ the API's error shape;
and probes an answer whatever host they ask for."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any, Final

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from chat.infrastructure import log_context
from web.rest.errors import busy_page, convert_error_page, request_id

logger = logging.getLogger(__name__)
_JSON_ONLY: Final = ("/api/", "/health/")
PROBES: Final = ("/health/live", "/health/ready")


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


@sync_and_async_middleware
def answer_probes_of_any_host(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Load balancers and orchestrators ask by the address of the process, which ALLOWED_HOSTS does not have.

    Answers to probes hold no link, so that nothing is made of the name.
    """

    def answer(request: HttpRequest) -> Any:
        if request.path in PROBES:
            request.get_host = lambda: "probe"  # type: ignore[method-assign]
        return get_response(request)

    async def answer_async(request: HttpRequest) -> Any:
        return await answer(request)

    return answer_async if iscoroutinefunction(get_response) else answer


def _finish(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if request.path.startswith(_JSON_ONLY):
        response = convert_error_page(request, response)
        # What one user reads is for no cache, in the browser or on the way.
        response.headers.setdefault("Cache-Control", "no-store")
    response["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
    return response
