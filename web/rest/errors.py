"""One error shape for everything that can go wrong: `{code, message, field?, request_id}`.

`describe` is for REST and the websocket alike. Nothing here shows a stack trace, an id or HTML.
"""

import logging
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from django.core.exceptions import PermissionDenied
from django.db import OperationalError
from django.http import Http404, HttpRequest, HttpResponseBase, JsonResponse
from psycopg_pool import PoolTimeout
from redis.exceptions import RedisError
from rest_framework import exceptions
from rest_framework.response import Response

from chat.protocol.errors import REFUSALS, ApiError

logger = logging.getLogger(__name__)

# When to come back after a refusal that passes by itself; seconds.
RETRY_AFTER_S: Final = "5"
# What serializers call it -> what our clients call it.
_SERIALIZER_CODES: Final = {
    "required": "field_required",
    "null": "invalid_type",
    "not_a_list": "invalid_type",
}
# Status -> code and message, for errors that Django and DRF answer by themselves.
_BY_STATUS: Final[dict[int, tuple[str, str]]] = {
    400: ("bad_request", "The request is not valid."),
    401: ("not_authenticated", REFUSALS["not_authenticated"][1]),
    403: ("permission_denied", REFUSALS["permission_denied"][1]),
    404: ("not_found", REFUSALS["not_found"][1]),
    405: ("method_not_allowed", "This method is not available here."),
    406: ("not_acceptable", "Only JSON is available."),
    413: ("body_too_large", REFUSALS["body_too_large"][1]),
    415: ("unsupported_media_type", "Send application/json."),
    429: ("rate_limited", REFUSALS["rate_limited"][1]),
    500: ("internal_error", "Something went wrong on our side."),
    503: ("unavailable", "A service is not available at the moment. Try again later."),
}


# Exceptions of the libraries below us -> status.
_FOREIGN: Final[tuple[tuple[type[Exception], int], ...]] = (
    (Http404, 404),
    (PermissionDenied, 403),
    (OperationalError, 503),
    (PoolTimeout, 503),
)


class Described(NamedTuple):
    """What a client is told about one exception."""

    status: int
    code: str
    message: str
    field: str | None = None
    details: Mapping[str, Any] = MappingProxyType({})
    headers: Mapping[str, str] = MappingProxyType({})

    def body(self, request_id: str) -> dict[str, Any]:
        named = {"field": self.field} if self.field else {}
        return {"code": self.code, "message": self.message, **named, **self.details, "request_id": request_id}


def describe(error: Exception) -> Described:
    """Any exception, as clients see it; what nobody foresaw is a 500 that says nothing."""
    match error:
        case ApiError():
            return _refused(error)
        case RedisError():
            return _refused(ApiError("stream_unavailable"))
        case exceptions.ValidationError():
            return _invalid(error.detail)
        case exceptions.APIException():
            return _drf(error)
        case _:
            return _by_status(next((status for kind, status in _FOREIGN if isinstance(error, kind)), 500))


def handle(error: Exception, context: Mapping[str, Any]) -> Response:
    """DRF's exception handler."""
    request = context["request"]
    described = describe(error)
    if described.status >= 500:
        logger.error("request %s failed", request_id(request), exc_info=error)
    return Response(described.body(request_id(request)), described.status, headers=dict(described.headers))


def error_response(
    request: HttpRequest, status: int, headers: Mapping[str, str] | None = None
) -> JsonResponse:
    """For what is answered outside of DRF."""
    described = _by_status(status)
    return JsonResponse(described.body(request_id(request)), status=described.status, headers=headers)


def in_our_shape(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    """Django's own error pages, replaced by the error shape; everything else as it is."""
    if response.status_code < 400 or response.get("Content-Type", "").startswith("application/json"):
        return response
    kept = {name: response[name] for name in ("Allow", "Retry-After") if name in response}
    return error_response(request, response.status_code, kept)


def request_id(request: Any) -> str:
    return str(getattr(request, "request_id", ""))


def _refused(refusal: ApiError) -> Described:
    headers = {"Retry-After": RETRY_AFTER_S} if refusal.status in (429, 503) else {}
    return Described(refusal.status, refusal.code, refusal.message, refusal.field, refusal.details, headers)


def _by_status(status: int) -> Described:
    known = status if status in _BY_STATUS else 400 if status < 500 else 500
    return Described(status, *_BY_STATUS[known])


def _drf(error: exceptions.APIException) -> Described:
    if isinstance(error, exceptions.PermissionDenied) and str(error.detail).startswith("CSRF"):
        return _refused(ApiError("csrf_failed"))
    header = getattr(error, "auth_header", None)
    return Described(
        error.status_code,
        *_BY_STATUS.get(error.status_code, _BY_STATUS[400]),
        headers={"WWW-Authenticate": header} if header else {},
    )


def _invalid(detail: Any) -> Described:
    """The first problem of the first field."""
    path: list[str] = []
    while isinstance(detail, dict | list) and detail:
        if isinstance(detail, dict):
            name, detail = next(iter(detail.items()))
            path.append(str(name))
        else:
            detail = next(one for one in detail if one)
    code = _SERIALIZER_CODES.get(detail.code, detail.code)
    if code not in REFUSALS:
        return Described(400, "invalid_value", str(detail), ".".join(path) or None)
    return _refused(ApiError(code, field=".".join(path) or None))
