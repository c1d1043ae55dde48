"""The user's own API tokens: what there is, a new one, one less. Getting one by password is tokens.py.

A token's text is told once, when it is made; after that there is its beginning, by which people recognise it.
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
from web.rest.fields import StrictSerializer, parse_id
from web.rest.openapi import documented
from web.rest.view import Endpoint, user_of

# A UUID's worth of the digest knox keeps.
ID_CHARACTERS: Final = 32


class NoBody(StrictSerializer):
    """Nothing is chosen about a token."""


class OwnTokenAnswer(serializers.Serializer[Any]):
    id = serializers.UUIDField()
    start = serializers.CharField(help_text="its first characters")
    created_at = serializers.DateTimeField()


class NewTokenAnswer(OwnTokenAnswer):
    token = serializers.CharField(help_text="told now and never again")


class OwnTokensView(Endpoint):
    @documented("auth_tokens_list", answer=OwnTokenAnswer(many=True))
    def get(self, request: Request) -> Response:
        """Newest first."""
        return Response([_shape(token) for token in _own(request).order_by("-created")])

    @documented("auth_tokens_create", body=NoBody, answer=NewTokenAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """For who has logged in with a password: a token that leaked must not be able to outlive itself."""
        if request.auth is not None:
            raise ApiError("permission_denied")
        self.body(NoBody)
        row, token = AuthToken.objects.create(user_of(request))
        return Response(_shape(row) | {"token": token}, status.HTTP_201_CREATED)


class OwnTokenView(Endpoint):
    @documented("auth_tokens_delete", statuses=(204,))
    def delete(self, request: Request, token: str) -> Response:
        """From the next request on it lets nobody in."""
        pk = parse_id(token)
        if pk is None:
            raise ApiError("invalid_id")
        deleted, _ = _own(request).filter(digest__startswith=pk.hex).delete()
        if not deleted:
            raise ApiError("token_not_found")
        return Response(status=status.HTTP_204_NO_CONTENT)


def _own(request: Request) -> "QuerySet[AuthToken]":
    own: QuerySet[AuthToken] = AuthToken.objects.filter(user=user_of(request))
    return own


def _shape(token: AuthToken) -> dict[str, Any]:
    return {
        "id": str(UUID(token.digest[:ID_CHARACTERS])),
        "start": token.token_key,
        "created_at": isoformat_utc(token.created),
    }
