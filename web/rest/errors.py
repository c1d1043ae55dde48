"""Conversion of every exception to the error shape of the API: `{code, message, field?, request_id}`, and that shape.

REST and the websocket both use `describe`. No description contains a stack trace, an id or HTML. The paths of
settings.ERROR_SHAPES have other shapes.
"""

import errno
import logging
from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Annotated, Any, Final, NamedTuple
from uuid import UUID

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.template.loader import get_template
from django.utils.module_loading import import_string
from msgspec import UNSET, UnsetType
from psycopg_pool import PoolTimeout
from redis.exceptions import RedisError
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response

from chat.protocol.answer import Answer, Moment, choice, doc
from chat.protocol.errors import REFUSALS, ApiError

logger = logging.getLogger(__name__)

# Retry-After of temporary errors, in seconds.
RETRY_AFTER_S: Final = 5
# HTTP status -> code and message, for errors that Django and DRF respond to themselves.
_BY_STATUS: Final[dict[int, tuple[str, str]]] = {
    400: ("bad_request", "The request is not valid."),
    401: ("not_authenticated", REFUSALS["not_authenticated"][1]),
    403: ("permission_denied", REFUSALS["permission_denied"][1]),
    404: ("not_found", REFUSALS["not_found"][1]),
    405: ("method_not_allowed", "This method is not available here."),
    406: ("not_acceptable", "Only JSON is available."),
    408: ("request_timeout", REFUSALS["request_timeout"][1]),
    413: ("body_too_large", REFUSALS["body_too_large"][1]),
    415: ("unsupported_media_type", "Send application/json."),
    429: ("rate_limited", REFUSALS["rate_limited"][1]),
    500: ("internal_error", "Something went wrong on our side."),
    503: ("unavailable", "A service is not available at the moment. Try again later."),
}
# Every code that a client can receive, with its message or one of its messages.
ERROR_CODES: Final = tuple(
    (dict(_BY_STATUS.values()) | {code: message for code, (_, message) in REFUSALS.items()}).items()
)
# Exceptions of Django, the database pool and others -> HTTP status.
_LIBRARY_ERRORS: Final[tuple[tuple[type[Exception], int], ...]] = (
    (Http404, 404),
    (PermissionDenied, 403),
    (OperationalError, 503),
    (PoolTimeout, 503),
)


class ErrorDescription(NamedTuple):
    """The response to one exception."""

    status: int
    code: str
    message: str
    field: str | None = None
    details: Mapping[str, Any] = MappingProxyType({})
    headers: Mapping[str, str] = MappingProxyType({})

    def body(self, request_id: str, path: str = "/api/") -> dict[str, Any]:
        """Return the body of the response to a request of this path."""
        field = {"field": self.field} if self.field else {}
        body = {"code": self.code, "message": self.message, **field, **self.details, "request_id": request_id}
        convert = next((shape for prefix, shape in _shapes().items() if path.startswith(prefix)), None)
        return convert(self.status, body) if convert else body


@cache
def _shapes() -> dict[str, Callable[[int, dict[str, Any]], dict[str, Any]]]:
    return {prefix: import_string(name) for prefix, name in settings.ERROR_SHAPES.items()}


def describe(error: Exception) -> ErrorDescription:
    """Return the response to any exception; an unexpected one is a 500 without details."""
    match error:
        case ApiError():
            return _describe_api_error(error)
        case RedisError():
            return _describe_api_error(ApiError("stream_unavailable"))
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            return _describe_api_error(ApiError("file_storage_unavailable"))
        case exceptions.APIException():
            return _describe_drf_error(error)
        case _:
            statuses = (status for kind, status in _LIBRARY_ERRORS if isinstance(error, kind))
            return _describe_status(next(statuses, 500))


def handle_exception(error: Exception, context: Mapping[str, Any]) -> Response:
    """Log server errors and return the response of an exception. This is DRF's exception handler."""
    request = context["request"]
    described = describe(error)
    if described.status >= 500:
        # The reason of a refusal is logged where it is raised.
        refused = {"status_code": described.status} if isinstance(error, ApiError) else None
        logger.error("request %s failed", request_id(request), exc_info=error, extra=refused)
    body = described.body(request_id(request), request.path)
    return Response(body, described.status, headers=dict(described.headers))


def error_response(
    request: HttpRequest, status: int, headers: Mapping[str, str] | None = None
) -> JsonResponse:
    """Return the error response of a status, for views outside DRF."""
    described = _describe_status(status)
    body = described.body(request_id(request), request.path)
    return JsonResponse(body, status=described.status, headers=headers)


def busy_page(error: Exception) -> HttpResponse | None:
    """Return the page for a temporary exception, such as a statement that took too long; else None."""
    described = describe(error)
    if described.status not in (429, 503):
        return None
    # Without a context, since context processors may need the database.
    page = get_template("503.html").render()
    return HttpResponse(page, status=described.status, headers=dict(described.headers))


def convert_error_page(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Replace an HTML error page of Django by the error shape; return any other response unchanged."""
    if response.status_code < 400 or response.get("Content-Type", "").startswith("application/json"):
        return response
    headers = {name: response[name] for name in ("Allow", "Retry-After") if name in response}
    return error_response(request, response.status_code, headers)


def request_id(request: HttpRequest | Request) -> str:
    return str(getattr(request, "request_id", ""))


def _describe_api_error(error: ApiError) -> ErrorDescription:
    retry_after_s = error.retry_after_s or RETRY_AFTER_S
    headers = {"Retry-After": str(retry_after_s)} if error.status in (429, 503) else {}
    if error.code == "invalid_range":
        headers["Content-Range"] = f"bytes */{error.details['size']}"
    return ErrorDescription(error.status, error.code, error.message, error.field, error.details, headers)


def _describe_status(status: int) -> ErrorDescription:
    known = status if status in _BY_STATUS else 400 if status < 500 else 500
    headers = {"Retry-After": str(RETRY_AFTER_S)} if known == 503 else {}
    return ErrorDescription(status, *_BY_STATUS[known], headers=headers)


def _describe_drf_error(error: exceptions.APIException) -> ErrorDescription:
    if isinstance(error, exceptions.PermissionDenied) and str(error.detail).startswith("CSRF"):
        return _describe_api_error(ApiError("csrf_failed"))
    header = getattr(error, "auth_header", None)
    return ErrorDescription(
        error.status_code,
        *_BY_STATUS.get(error.status_code, _BY_STATUS[400]),
        headers={"WWW-Authenticate": header} if header else {},
    )


CODES: Final = [code for code, _ in ERROR_CODES]
# drf-spectacular describes them once, for the set of values.
_MEANINGS: Final = "\n".join(f"* `{code}` - {message}" for code, message in ERROR_CODES)


class ErrorMembers(Answer, kw_only=True):
    code: Annotated[str, choice(CODES, _MEANINGS)]
    message: str
    field: Annotated[str | UnsetType, doc("What of the request is wrong, as a path of names.")] = UNSET
    limit: Annotated[
        str | int | UnsetType,
        doc(
            "What a limit is called, or how much it allows. Of `body_too_large`, bytes or values; of `message_too_long`, characters; of "
            "`daily_limit_reached`, its code in `usage/limits/`; of attachments, the tokens that fit; of `file_too_large`, bytes."
        ),
    ] = UNSET
    size: Annotated[
        int | UnsetType,
        doc("Of `message_too_long`: the text's characters; of `invalid_range`: the file's bytes."),
    ] = UNSET
    max: Annotated[
        float | UnsetType | None, doc("Of a quota: what may be kept; of a daily limit: what may be used.")
    ] = UNSET
    used: Annotated[float | UnsetType, doc("Of a daily limit: what is used.")] = UNSET
    resets_at: Annotated[Moment | UnsetType | None, doc("Of a daily limit: when it starts again at 0.")] = (
        UNSET
    )
    model: Annotated[str | UnsetType, doc("Of `attachments_too_large`: the model that they do not fit.")] = (
        UNSET
    )
    token_count: Annotated[int | UnsetType, doc("Of `attachments_too_large`: their tokens.")] = UNSET
    file: Annotated[UUID | UnsetType, doc("The file that cannot be used.")] = UNSET
    content_type: Annotated[str | UnsetType, doc("Of `file_type_mismatch`: what the content is.")] = UNSET
    error: Annotated[str | UnsetType, doc("Of `file_failed`: why the file could not be read.")] = UNSET
    line: Annotated[
        int | UnsetType, doc("Of `invalid_json` in an export of another product: the line, from 1.")
    ] = UNSET


class ErrorAnswer(ErrorMembers, kw_only=True):
    request_id: str
