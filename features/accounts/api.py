"""The routes of accounts: creating an API token by password, the own tokens, and changing the own password.

The text of a token is returned once, on creation; afterwards only its first characters are.
"""

from decimal import Decimal
from typing import Annotated, Any, Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth import authenticate
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.db.models import QuerySet
from django.urls import path
from knox.models import AuthToken
from msgspec import Meta
from rest_framework import status
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from chat.events import access
from chat.models import Agent, Scope, TokenScope
from chat.models.token_scope import MAX_NAME, scope_of, token_id
from chat.protocol.answer import Answer, Moment, choice, doc
from chat.protocol.body import MAX_USER_NAME, Body, LifetimeDays, Text, parse_id
from chat.protocol.errors import ApiError
from chat.runs import quotas
from features.accounts.login_attempt import login_attempt
from features.accounts.passwords import LimitedPasswordChange, has_password, store_password
from features.accounts.second_factor import has_second_factor
from web.accounts import may_log_in
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import COOKIE, accepts, documented

MAX_PASSWORD_CHARACTERS: Final = 4096


class Credentials(Body):
    username: Annotated[str, Meta(max_length=MAX_USER_NAME)]
    password: Annotated[str, Meta(max_length=MAX_PASSWORD_CHARACTERS)]


class TokenAnswer(Answer):
    token: str


class TokenView(StrictAPIView):
    authentication_classes: list[type[BaseAuthentication]] = []
    permission_classes: list[type[BasePermission]] = [AllowAny]

    @documented("auth_token", body=Credentials, answer=TokenAnswer)
    def post(self, request: Request) -> Response:
        """Create a token; earlier tokens stay valid. Repeated wrong passwords lock the login for a while."""
        credentials = self.parse(Credentials)
        # Normalised as by the page's form, and as names are stored.
        username = User.normalize_username(credentials.username)
        if not settings.PASSWORD_LOGIN:
            raise ApiError("permission_denied")
        with login_attempt(request._request, username) as attempt:  # noqa: SLF001
            user = authenticate(request=request._request, username=username, password=credentials.password)  # noqa: SLF001  Django's backends need its own request
            attempt.has_right_password = user is not None
        if user is None or not may_log_in(user):
            raise ApiError("invalid_credentials")
        if has_second_factor(user):
            # Such users create tokens on the page, after entering the code too.
            raise ApiError("permission_denied")
        with quotas.TOKENS.room_for_one(user):
            # The signal updates last_login.
            user_logged_in.send(sender=type(user), request=request._request, user=user)  # noqa: SLF001
            _, token = TokenScope.objects.create_token(user)
        return Response(TokenAnswer(token=token).json())


_Password = Annotated[Text, Meta(max_length=MAX_PASSWORD_CHARACTERS)]


class PasswordBody(Body):
    old_password: _Password
    new_password: _Password
    end_tokens: Annotated[bool, doc("Delete all API tokens of the user, that of the request too.")] = False


class PasswordView(StrictAPIView):
    @documented("auth_password", body=PasswordBody, statuses=(204,))
    def post(self, request: Request) -> Response:
        """Change the password. Other logins of the user end. Repeated wrong passwords are refused for a while."""
        user = current_user(request)
        if not has_password(user):
            raise ApiError("permission_denied")
        body = self.parse(PasswordBody)
        form = LimitedPasswordChange(
            user,
            {
                "old_password": body.old_password,
                "new_password1": body.new_password,
                "new_password2": body.new_password,
                "deletes_tokens": body.end_tokens,
            },
            request=request._request,  # noqa: SLF001  Django's own request, by whose address guesses are limited
        )
        for name, errors in form.errors.items():
            field = "old_password" if name == "old_password" else "new_password"
            raise ApiError("invalid_value", " ".join(map(str, errors)), field=field)
        store_password(form, kept_login=request._request if request.auth is None else None)  # noqa: SLF001
        return Response(status=status.HTTP_204_NO_CONTENT)


_SCOPES: Final = (
    "`read`: no request that changes anything. `chat`: `/agui` and the routes below `/v1/` alone. `agent`: of these, what asks one agent, "
    "and its answers."
)
_LIMIT: Final = "Per day, UTC, of the answers that are asked for with the token: when it is reached, no more may be. Null: no limit."
_TokensPerDay = Annotated[int, Meta(ge=1, le=2**53)]
_CostPerDay = Annotated[float, Meta(ge=0.000001, le=1e9)]


class NewTokenBody(Body):
    # The agent belongs to one of the scopes.
    keywords = {
        "not": {
            "anyOf": [
                {
                    "required": ["scope"],
                    "properties": {"scope": {"const": "agent"}, "agent": {"type": "null"}},
                },
                {
                    "required": ["agent"],
                    "properties": {"scope": {"not": {"const": "agent"}}, "agent": {"type": "string"}},
                },
            ]
        }
    }

    name: Annotated[str, Meta(max_length=MAX_NAME), doc("What its user calls it.")] = ""
    scope: Annotated[str, choice(Scope, _SCOPES)] = Scope.WRITE.value
    expires_in_days: Annotated[LifetimeDays | None, doc("Absent or null: never.")] = None
    agent: Annotated[UUID | None, doc("With the scope `agent`: the agent.")] = None
    tokens_per_day: Annotated[_TokensPerDay | None, doc(_LIMIT)] = None
    cost_per_day: Annotated[_CostPerDay | None, doc(_LIMIT)] = None


class OwnTokenAnswer(Answer):
    id: UUID
    start: Annotated[str, doc("The token's first characters.")]
    name: Annotated[str, doc("Empty: it has none.")]
    scope: Annotated[str, choice(Scope)]
    created_at: Moment
    expires_at: Moment | None
    last_used_at: Annotated[Moment | None, doc("Up to five minutes ago may be missing. Null: never.")]
    agent: Annotated[UUID | None, doc("Null with the scope `agent`: it is gone.")]
    tokens_per_day: int | None
    cost_per_day: float | None


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
        columns = token_columns(user, body)
        with quotas.TOKENS.room_for_one(user):
            row, token = TokenScope.objects.create_token(
                user, expires_in_days=body.expires_in_days, **columns
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


def token_columns(user: User, body: NewTokenBody) -> dict[str, Any]:
    """Return the columns of the TokenScope of a new token. Raises ApiError."""
    agent, cost = None, body.cost_per_day
    if body.scope == Scope.AGENT:
        if body.agent is None:
            raise ApiError("field_required", field="agent")
        agent = get_own_row(Agent.objects.usable_by(user), str(body.agent), "agent", field="agent")
    elif body.agent is not None:
        raise ApiError("invalid_value", "Only with the scope `agent`.", field="agent")
    return {
        "scope": Scope(body.scope),
        "name": body.name,
        "agent": agent,
        "tokens_per_day": body.tokens_per_day,
        "cost_per_day": None if cost is None else Decimal(str(cost)),
    }


def _members(token: AuthToken) -> dict[str, Any]:
    allowed = scope_of(token)
    return {
        "id": token_id(token.digest),
        "start": token.token_key,
        "name": allowed.name,
        "scope": allowed.scope,
        "created_at": token.created,
        "expires_at": token.expiry,
        "last_used_at": allowed.last_used_at,
        "agent": allowed.agent_id,
        "tokens_per_day": allowed.tokens_per_day,
        "cost_per_day": None if allowed.cost_per_day is None else float(allowed.cost_per_day),
    }


urlpatterns = [
    path("auth/token/", TokenView.as_view()),
    path("auth/password/", PasswordView.as_view()),
    path("auth/tokens/", ApiTokensView.as_view()),
    path("auth/tokens/<id:token>/", ApiTokenView.as_view()),
]
