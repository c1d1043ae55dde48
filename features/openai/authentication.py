"""Authentication by the header `Authorization: Bearer …`, with the tokens of the API. A login by cookie is none here.

Caller: who asks, and what the token allows.
"""

from typing import Any, Final, NamedTuple
from uuid import UUID

from django.contrib.auth.models import User
from django.db.models import Q, QuerySet
from drf_spectacular.contrib.knox_auth_token import KnoxTokenScheme
from rest_framework.permissions import IsAuthenticated
from rest_framework.request import Request

from chat.infrastructure import log_context
from chat.models import Agent, Run, Scope, Session, TokenScope
from chat.models.token_scope import token_id
from chat.protocol.states import LIVE, Status
from web.rest.api_view import current_user
from web.rest.authentication import TokenAuthentication, check_may_write
from web.socket.authentication import HandshakeCredentials


class BearerAuthentication(TokenAuthentication):
    scopes = Scope.values

    def authenticate_header(self, request: Request) -> str:  # noqa: ARG002
        """Return what precedes a token in the header."""
        return "Bearer"


def read_bearer(request: Request) -> HandshakeCredentials:
    """Return what authenticated the request, to be checked again while its answer is read."""
    return HandshakeCredentials(token=request.headers["Authorization"].split()[1])


_IS_STORED: Final = Q(turn__session__temporary_until=None)
# The agent of a token that was for one that is gone.
_NO_AGENT: Final = UUID(int=0)


class Caller(NamedTuple):
    """agent_id: the only agent that the token may ask; None: all, and the models.
    unstored: runs that count as stored, since the connection that has asked for them may continue them.
    """

    user: User
    agent_id: UUID | None = None
    unstored: frozenset[UUID] = frozenset()

    @classmethod
    def of(cls, request: Request) -> "Caller":
        return cls(current_user(request), _agent_of(request.auth.scope_row))  # type: ignore[union-attr]

    @classmethod
    def of_token(cls, token: str, unstored: frozenset[UUID] = frozenset()) -> "Caller":
        """Return who asks for a response with the token, of which the use is noted. Raises AuthenticationFailed, ApiError."""
        user, row = BearerAuthentication().authenticate_credentials(token.encode())
        check_may_write(row.scope_row.scope)
        log_context.add_api_token(token_id(row.digest))
        return cls(user, _agent_of(row.scope_row), unstored)

    def agents(self) -> QuerySet[Agent]:
        usable = Agent.objects.usable_by(self.user)
        return usable.filter(pk=self.agent_id) if self.agent_id else usable

    def stored_sessions(self) -> QuerySet[Session]:
        is_stored = Q(temporary_until=None)
        if self.unstored:
            is_stored |= Q(pk__in=Run.objects.filter(pk__in=self.unstored).values("turn__session"))
        return self.sessions().filter(is_stored)

    def stored_runs(self) -> QuerySet[Run]:
        return self._runs().filter(_IS_STORED | Q(pk__in=self.unstored) if self.unstored else _IS_STORED)

    def answerable_runs(self) -> QuerySet[Run]:
        """Return those that are stored, or go on: a response asks its user a moment before its run waits."""
        return self._runs().filter(_IS_STORED | Q(status__in=LIVE - {Status.STOPPING}))

    def sessions(self) -> QuerySet[Session]:
        sessions = Session.objects.visible_to(self.user)
        return sessions.filter(agent=self.agent_id) if self.agent_id else sessions

    def _runs(self) -> QuerySet[Run]:
        return Run.objects.filter(turn__session__in=self.sessions().values("pk")).for_work()


def _agent_of(allowed: TokenScope) -> UUID | None:
    return allowed.agent_id or _NO_AGENT if allowed.scope == Scope.AGENT else None


class HasToken(IsAuthenticated):
    """Allows what the scope of the token allows, which the authentication checks."""


class BearerScheme(KnoxTokenScheme):  # type: ignore[no-untyped-call]
    """The description of BearerAuthentication in the OpenAPI document."""

    target_class = "features.openai.authentication.BearerAuthentication"
    name = "bearerToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:  # noqa: ARG002
        return {"type": "http", "scheme": "bearer"}
