"""Operators, who may see the state of the deployment: its metrics, its services, and the description of its API."""

from django.conf import settings
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.views import APIView


def is_operator(request: HttpRequest) -> bool:
    """Return whether the request has METRICS_TOKEN as a bearer token, or is by staff. In development, always True.

    A request with a token needs neither Postgres nor Redis.
    """
    if settings.DEVELOPMENT:
        return True
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return bool(settings.METRICS_TOKEN) and constant_time_compare(token.strip(), settings.METRICS_TOKEN)
    if settings.SESSION_COOKIE_NAME not in request.COOKIES:
        return False
    return request.user.is_active and request.user.is_staff


class MayReadContract(BasePermission):
    """Staff, and users with an API token, who therefore write a client; in development everybody."""

    def has_permission(self, request: Request, view: APIView) -> bool:  # noqa: ARG002
        return (
            settings.DEVELOPMENT or request.auth is not None or bool(request.user and request.user.is_staff)
        )
