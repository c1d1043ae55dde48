"""Authentication of REST requests by the header `Authorization: Token …`. features/accounts creates tokens."""

from collections.abc import Collection
from typing import ClassVar

from django.contrib.auth.models import User
from django.utils import timezone
from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from knox.auth import TokenAuthentication as KnoxAuthentication
from knox.crypto import hash_token
from knox.models import AuthToken
from rest_framework import exceptions
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from chat.infrastructure import log_context
from chat.models import Scope, TokenScope
from chat.models.token_scope import scope_of, token_id
from chat.protocol.errors import ApiError
from web.accounts import may_log_in


class TokenAuthentication(KnoxAuthentication):  # type: ignore[misc]
    """Knox's token authentication with scopes, and without its search by prefix and its clean-up of expired tokens."""

    # Tokens with other scopes are refused.
    scopes: ClassVar[Collection[str]] = (Scope.READ, Scope.WRITE)

    def authenticate_credentials(self, token: bytes) -> tuple[User, AuthToken]:
        """Authenticate by the stored digest, in one query. The row of the scope is `scope_row` of the token."""
        try:
            digest = hash_token(token.decode())
        except ValueError:
            raise exceptions.AuthenticationFailed from None
        row = AuthToken.objects.select_related("user", "scope_row").filter(digest=digest).first()
        if row is None or (row.expiry and row.expiry < timezone.now()) or not may_log_in(row.user):
            raise exceptions.AuthenticationFailed
        row.scope_row = scope_of(row)
        TokenScope.objects.note_use(row.pk, row.scope_row.last_used_at)
        return row.user, row

    def authenticate(self, request: Request) -> tuple[User, AuthToken] | None:
        """Authenticate as knox does. Raises ApiError if the scope of the token does not allow the request."""
        authenticated: tuple[User, AuthToken] | None = super().authenticate(request)
        if authenticated:
            row = authenticated[1]
            if row.scope_row.scope not in self.scopes:
                raise ApiError("token_out_of_scope")
            if request.method not in SAFE_METHODS:
                check_may_write(row.scope_row.scope)
            log_context.add_api_token(token_id(row.digest))
        return authenticated


def check_may_write(scope: str) -> None:
    """Raise ApiError if the scope is for reading only."""
    if scope == Scope.READ:
        raise ApiError("token_read_only")


class TokenScheme(KnoxTokenScheme):  # type: ignore[no-untyped-call]
    """The description of TokenAuthentication in the OpenAPI document."""

    target_class = "web.rest.authentication.TokenAuthentication"
