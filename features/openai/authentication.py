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

from chat.models import Agent, Run, Scope, Session, TokenScope
from chat.protocol.states import LIVE, Status
from web.rest.api_view import current_user
from web.rest.authentication import TokenAuthentication
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
    """agent_id: the only agent that the token may ask; None: all, and the models."""

    user: User
    agent_id: UUID | None = None

    @classmethod
    def of(cls, request: Request) -> "Caller":
        allowed: TokenScope = request.auth.scope_row  # type: ignore[union-attr]
        is_for_one = allowed.scope == Scope.AGENT
        return cls(current_user(request), allowed.agent_id or _NO_AGENT if is_for_one else None)

    def agents(self) -> QuerySet[Agent]:
        usable = Agent.objects.usable_by(self.user)
        return usable.filter(pk=self.agent_id) if self.agent_id else usable

    def stored_sessions(self) -> QuerySet[Session]:
        return self.sessions().filter(temporary_until=None)

    def stored_runs(self) -> QuerySet[Run]:
        return self._runs().filter(_IS_STORED)

    def answerable_runs(self) -> QuerySet[Run]:
        """Return those that are stored, or go on: a response asks its user a moment before its run waits."""
        return self._runs().filter(_IS_STORED | Q(status__in=LIVE - {Status.STOPPING}))

    def sessions(self) -> QuerySet[Session]:
        sessions = Session.objects.visible_to(self.user)
        return sessions.filter(agent=self.agent_id) if self.agent_id else sessions

    def _runs(self) -> QuerySet[Run]:
        return Run.objects.filter(turn__session__in=self.sessions().values("pk")).for_work()


class HasToken(IsAuthenticated):
    """Allows what the scope of the token allows, which the authentication checks."""


class BearerScheme(KnoxTokenScheme):  # type: ignore[no-untyped-call]
    """The description of BearerAuthentication in the OpenAPI document."""

    target_class = "features.openai.authentication.BearerAuthentication"
    name = "bearerToken"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:  # noqa: ARG002
        return {"type": "http", "scheme": "bearer"}
