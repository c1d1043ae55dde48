"""`Authorization: Token …`: who is asking, when it is not a browser. Tokens are made in tokens.py."""

from typing import Any

from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from knox.auth import TokenAuthentication as KnoxAuthentication
from rest_framework import exceptions


class TokenAuthentication(KnoxAuthentication):  # type: ignore[misc]
    def authenticate_credentials(self, token: bytes) -> Any:
        if not token.isascii():
            raise exceptions.AuthenticationFailed
        return super().authenticate_credentials(token)

    def _cleanup_token(self, auth_token: Any) -> bool:  # noqa: ARG002
        """Knox would read all tokens of the user at every request to find expired ones; ours do not expire."""
        return False


class TokenScheme(KnoxTokenScheme):  # type: ignore[no-untyped-call]
    target_class = "web.rest.authentication.TokenAuthentication"
