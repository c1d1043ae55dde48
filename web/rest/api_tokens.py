"""Views that list, create and delete the user's own API tokens. token_login.py creates one by password.

The token's text is returned once, on creation; afterwards only its first characters are.
"""

from typing import Annotated, Any, Final
from uuid import UUID

from django.db.models import QuerySet
from knox.models import AuthToken
from msgspec import Meta
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.events import access
from chat.models import Scope, TokenScope
from chat.models.token_scope import MAX_NAME
from chat.protocol.answer import Answer
from chat.protocol.body import Body, parse_id
from chat.protocol.errors import ApiError
from chat.protocol.member_types import Moment, choice, doc
from chat.runs import quotas
from web.rest.api_view import StrictAPIView, current_user
from web.rest.openapi import COOKIE, accepts, documented

# The beginning of the stored digest, as long as a UUID, identifies a token.
ID_CHARACTERS: Final = 32
# Ten years.
MAX_DAYS: Final = 3650


class NewTokenBody(Body):
    name: Annotated[str, Meta(max_length=MAX_NAME), doc("What its user calls it.")] = ""
    scope: Annotated[str, choice(Scope, "`read`: no request that changes anything.")] = Scope.WRITE.value
    expires_in_days: Annotated[
        Annotated[int, Meta(ge=1, le=MAX_DAYS)] | None, doc("Absent or null: never.")
    ] = None


class OwnTokenAnswer(Answer):
    id: UUID
    start: Annotated[str, doc("The token's first characters.")]
    name: Annotated[str, doc("Empty: it has none.")]
    scope: Annotated[str, choice(Scope)]
    created_at: Moment
    expires_at: Moment | None


class NewTokenAnswer(OwnTokenAnswer):
    token: Annotated[str, doc("Returned only in this response.")]


class ApiTokensView(StrictAPIView):
    @documented("auth_tokens_list", answer=list[OwnTokenAnswer])
    def get(self, request: Request) -> Response:
        """List the user's tokens, newest first."""
        newest_first = _own_tokens(request).select_related("scope_row").order_by("-created")
        return Response([OwnTokenAnswer(**_members(token)).json() for token in newest_first])

    @accepts(COOKIE)
    @documented("auth_tokens_create", body=NewTokenBody, answer=NewTokenAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """Create a token. Rejected with token authentication, so that a leaked token cannot create others."""
        if request.auth is not None:
            raise ApiError("permission_denied")
        body = self.parse(NewTokenBody)
        user = current_user(request)
        with quotas.TOKENS.room_for_one(user):
            row, token = TokenScope.objects.create_token(
                user,
                Scope(body.scope),
                name=body.name,
                expires_in_days=body.expires_in_days,
            )
        return Response(NewTokenAnswer(**_members(row), token=token).json(), status.HTTP_201_CREATED)


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
        access.announce_change(current_user(request).pk)
        return Response(status=status.HTTP_204_NO_CONTENT)


def _own_tokens(request: Request) -> "QuerySet[AuthToken]":
    own: QuerySet[AuthToken] = AuthToken.objects.filter(user=current_user(request))
    return own


def _members(token: AuthToken) -> dict[str, Any]:
    scope = getattr(token, "scope_row", None)
    return {
        "id": UUID(token.digest[:ID_CHARACTERS]),
        "start": token.token_key,
        "name": scope.name if scope else "",
        "scope": scope.scope if scope else Scope.WRITE,
        "created_at": token.created,
        "expires_at": token.expiry,
    }
