"""The response to a login that is locked after too many wrong passwords. django-axes does the counting."""

from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from chat.protocol.errors import REFUSALS
from web.rest.errors import error_response


def lockout_response(request: HttpRequest, *_: Any) -> HttpResponseBase:
    """Return 429 with Retry-After: JSON for the API, one line of plain text for the login pages."""
    headers = {"Retry-After": str(int(settings.AXES_COOLOFF_TIME.total_seconds()))}
    if request.path.startswith("/api/"):
        return error_response(request, 429, headers)
    message = REFUSALS["rate_limited"][1]
    return HttpResponse(message, status=429, content_type="text/plain; charset=utf-8", headers=headers)
