"""Lists, creates and deletes the user's own API tokens. Creating one by password is token_login.py.

The token's text is returned once, on creation; afterwards only its first characters are.
"""

from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet
from knox.models import AuthToken
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.presenters.json_values import isoformat_utc
from chat.protocol.errors import ApiError
from web.rest.api_view import StrictAPIView, current_user
from web.rest.fields import StrictSerializer, parse_id
from web.rest.openapi import documented

# The beginning of the stored digest, as long as a UUID, identifies a token.
ID_CHARACTERS: Final = 32


class EmptyBody(StrictSerializer):
    """A new token has no options."""


class OwnTokenAnswer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    start = serializers.CharField(help_text="The token's first characters.")
    created_at = serializers.DateTimeField()


class NewTokenAnswer(OwnTokenAnswer):
    token = serializers.CharField(help_text="Returned only in this response.")


class ApiTokensView(StrictAPIView):
    @documented("auth_tokens_list", answer=OwnTokenAnswer(many=True))
    def get(self, request: Request) -> Response:
        """List the user's tokens, newest first."""
        return Response([_present_token(token) for token in _own_tokens(request).order_by("-created")])

    @documented("auth_tokens_create", body=EmptyBody, answer=NewTokenAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """Create a token. Rejected with token authentication, so that a leaked token cannot create others."""
        if request.auth is not None:
            raise ApiError("permission_denied")
        self.body(EmptyBody)
        row, token = AuthToken.objects.create(current_user(request))
        return Response(_present_token(row) | {"token": token}, status.HTTP_201_CREATED)


class ApiTokenView(StrictAPIView):
    @documented("auth_tokens_delete", statuses=(204,))
    def delete(self, request: Request, token: str) -> Response:
        """Delete a token. It is rejected from the next request on."""
        pk = parse_id(token)
        if pk is None:
            raise ApiError("invalid_id")
        deleted, _ = _own_tokens(request).filter(digest__startswith=pk.hex).delete()
        if not deleted:
            raise ApiError("token_not_found")
        return Response(status=status.HTTP_204_NO_CONTENT)


def _own_tokens(request: Request) -> "QuerySet[AuthToken]":
    own: QuerySet[AuthToken] = AuthToken.objects.filter(user=current_user(request))
    return own


def _present_token(token: AuthToken) -> dict[str, Any]:
    return {
        "id": str(UUID(token.digest[:ID_CHARACTERS])),
        "start": token.token_key,
        "created_at": isoformat_utc(token.created),
    }
