"""Authentication of REST requests by the header `Authorization: Token …`. features/accounts creates tokens."""

from django.contrib.auth.models import User
from django.utils import timezone
from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from knox.auth import TokenAuthentication as KnoxAuthentication
from knox.models import AuthToken
from rest_framework import exceptions
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from chat.models import Scope, TokenScope
from chat.protocol.errors import ApiError
from web.demo_account import may_log_in


class TokenAuthentication(KnoxAuthentication):  # type: ignore[misc]
    """Knox's token authentication, without its clean-up of expired tokens, and with scopes."""

    def authenticate_credentials(self, token: bytes) -> tuple[User, AuthToken]:
        if not token.isascii():
            raise exceptions.AuthenticationFailed
        authenticated: tuple[User, AuthToken] = super().authenticate_credentials(token)
        if not may_log_in(authenticated[0]):
            raise exceptions.AuthenticationFailed
        return authenticated

    def authenticate(self, request: Request) -> tuple[User, AuthToken] | None:
        """Authenticate as knox does. Raises ApiError if the request changes something and its token is for reading."""
        authenticated: tuple[User, AuthToken] | None = super().authenticate(request)
        if authenticated and request.method not in SAFE_METHODS:
            check_may_write(TokenScope.objects.of_token(authenticated[1]))
        return authenticated

    def _cleanup_token(self, auth_token: AuthToken) -> bool:
        """Return whether the token has expired. Knox would query all tokens of the user at every request."""
        return auth_token.expiry is not None and auth_token.expiry < timezone.now()


def check_may_write(scope: Scope) -> None:
    """Raise ApiError if the scope is for reading only."""
    if scope == Scope.READ:
        raise ApiError("token_read_only")


class TokenScheme(KnoxTokenScheme):  # type: ignore[no-untyped-call]
    """The description of TokenAuthentication in the OpenAPI document."""

    target_class = "web.rest.authentication.TokenAuthentication"
