"""Authenticates REST requests by the header `Authorization: Token …`. Tokens are created in token_login.py."""

from django.contrib.auth.models import User
from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from knox.auth import TokenAuthentication as KnoxAuthentication
from knox.models import AuthToken
from rest_framework import exceptions


class TokenAuthentication(KnoxAuthentication):  # type: ignore[misc]
    """Knox's token authentication, without its clean-up of expired tokens."""

    def authenticate_credentials(self, token: bytes) -> tuple[User, AuthToken]:
        if not token.isascii():
            raise exceptions.AuthenticationFailed
        authenticated: tuple[User, AuthToken] = super().authenticate_credentials(token)
        return authenticated

    def _cleanup_token(self, auth_token: AuthToken) -> bool:  # noqa: ARG002
        """Do nothing: knox would query all tokens of the user at every request, and these do not expire."""
        return False


class TokenScheme(KnoxTokenScheme):  # type: ignore[no-untyped-call]
    """Describes TokenAuthentication in the OpenAPI document."""

    target_class = "web.rest.authentication.TokenAuthentication"
