"""Middleware for request ids, API errors and probes.
Every request gets an id, the client's or a new one, for its log records and turns; its records name the session, run or
turn in its path, too. Errors below /api/ get the API's shape. Probes get an answer for any host.
"""

import logging
import re
from collections.abc import Awaitable, Callable
from typing import Any, Final

from asgiref.sync import iscoroutinefunction, markcoroutinefunction
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from chat.infrastructure import log_context
from chat.protocol.body import parse_id
from web.rest.errors import busy_page, convert_error_page, request_id

logger = logging.getLogger(__name__)
_JSON_ONLY: Final = ("/api/", "/health/", *settings.ERROR_SHAPES)
# Paths that name a row whose id the log records have, and the name of the member.
_NAMING: Final = re.compile(r"/api/(sessions|trash|runs|turns)/([^/]+)/")
_MEMBERS: Final = {"sessions": "session", "trash": "session", "runs": "run", "turns": "turn"}
PROBES: Final = ("/health/live", "/health/ready")


class RequestIdMiddleware:
    """Middleware that sets request ids and converts errors.
    It must be the outermost middleware, to convert the error pages of exceptions in other middleware.
    """

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
        with log_context.bound(**_ids_of(request)):
            return _finish(request, self.get_response(request))

    async def _call_async(self, request: HttpRequest) -> HttpResponseBase:
        with log_context.bound(**_ids_of(request)):
            return _finish(request, await self.get_response(request))

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        """Return a page for a temporary exception of a view outside DRF, which is worth another try; else None."""
        page = busy_page(error)
        if page is not None and page.status_code >= 500:
            logger.error("request %s failed", request_id(request), exc_info=error)
        return page


@sync_and_async_middleware
def answer_probes_of_any_host(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Accept any host for probes.

    Load balancers and orchestrators use the address of the process, which is not in ALLOWED_HOSTS. Answers to probes
    contain no links, so that the host is not used.
    """

    def answer(request: HttpRequest) -> Any:
        if request.path in PROBES:
            request.get_host = lambda: "probe"  # type: ignore[method-assign]
        return get_response(request)

    async def answer_async(request: HttpRequest) -> Any:
        return await answer(request)

    return answer_async if iscoroutinefunction(get_response) else answer


def _ids_of(request: HttpRequest) -> dict[str, object]:
    """Return the ids of the log records of the request: its own, and that of the session, run or turn in its path."""
    named = _NAMING.match(request.path_info)
    ids = {_MEMBERS[named[1]]: parse_id(named[2])} if named else {}
    return {"request_id": request.request_id, **ids}  # type: ignore[attr-defined]


def _finish(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    if request.path.startswith(_JSON_ONLY):
        response = convert_error_page(request, response)
        # A response that depends on the user must not be cached, in the browser or by a proxy.
        response.headers.setdefault("Cache-Control", "no-store")
    response["X-Request-ID"] = request.request_id  # type: ignore[attr-defined]
    return response
