"""Authentication by the header `Authorization: Bearer …`, with the tokens of the API. A login by cookie is none here."""

from typing import Any

from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request

from web.rest.authentication import TokenAuthentication
from web.socket.authentication import HandshakeCredentials


class BearerAuthentication(TokenAuthentication):
    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002
        """Return what precedes a token in the header."""
        return "Bearer"


def read_bearer(request: Request) -> HandshakeCredentials:
    """Return what authenticated the request, to be checked again while its answer is read."""
    return HandshakeCredentials(token=request.headers["Authorization"].split()[1])


class HasToken(IsAuthenticated):
    """Allows what the scope of the token allows, which the authentication checks."""


class BearerScheme(KnoxTokenScheme):  # type: ignore[no-untyped-call]
    """The description of BearerAuthentication in the OpenAPI document."""

    target_class = "features.openai.authentication.BearerAuthentication"
    name = "bearerToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:  # noqa: ARG002
        return {"type": "http", "scheme": "bearer"}
