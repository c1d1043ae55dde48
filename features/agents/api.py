"""The routes of agents: a user's own, and shared ones, which can only be read; and of the groups to share them with."""

from collections.abc import Iterable
from typing import Annotated, Any, Final
from uuid import UUID

from django.contrib.auth.models import Group, User
from django.db import transaction
from django.db.models import Q, prefetch_related_objects
from django.urls import path
from msgspec import Meta, field
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Agent
from chat.models.agent import ContextLayout
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, Moment, choice, doc
from chat.protocol.body import DISTINCT, Body, KnowledgeBases, Models, UserName, Visible, patched
from chat.protocol.errors import ApiError
from chat.runs import quotas
from chat.transcript.answer_settings import (
    MAX_PROMPT_CHARACTERS,
    MAX_REMINDER_CHARACTERS,
    OptionsBody,
    merge_options,
    present_options,
)
from chat.turns.knowledge_bases import choose_bases
from chat.turns.request import Tools
from features.agents.sharing import groups_to_share_with, pop_audience, share
from knowledge.models import KnowledgeBase
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import documented
from web.rest.pagination import newest_rows_parameters, read_newest_rows
from web.rest.preferences import check_offered

MAX_QUESTIONS: Final = 4
# The most groups, and the most people, with whom an agent may be shared.
MAX_GROUPS: Final = 50


class AgentBody(Body, kw_only=True):
    """Omitted fields get their default when an agent is created or replaced, and stay when it is updated."""

    name: Annotated[Visible, Meta(max_length=200)]
    emoji: Annotated[str, Meta(max_length=16)] = ""
    description: Annotated[str, Meta(max_length=300)] = ""
    # A new chat with the agent suggests them.
    questions: Annotated[list[Annotated[Visible, Meta(max_length=200)]], Meta(max_length=MAX_QUESTIONS)] = []
    prompt: Annotated[str, Meta(max_length=MAX_PROMPT_CHARACTERS)]
    replaces_system_prompt: bool = False
    reminder: Annotated[str, Meta(max_length=MAX_REMINDER_CHARACTERS)] = ""
    tools: Tools = []
    models: Models = []
    knowledge_bases: KnowledgeBases = []
    options: Annotated[
        OptionsBody, doc("Of turns whose session does not say otherwise; replaces all earlier ones.")
    ] = field(default_factory=OptionsBody)
    # Whether the user may share with the groups, and whether the users exist, is checked when they are used.
    shared_with: Annotated[
        list[Annotated[int, Meta(ge=1, le=2**31 - 1)]], Meta(max_length=MAX_GROUPS), DISTINCT
    ] = []
    shared_with_users: Annotated[
        list[UserName], Meta(max_length=MAX_GROUPS), DISTINCT, doc("Names of users.")
    ] = []
    context_layout: Annotated[str, choice(ContextLayout)] = ContextLayout.MOVING.value


class AgentAnswer(Answer):
    id: UUID
    name: str
    emoji: str
    description: str
    questions: Annotated[list[str], doc("What to suggest for a new chat with it.")]
    prompt: str
    replaces_system_prompt: bool
    reminder: str
    tools: list[str]
    models: list[str]
    knowledge_bases: list[UUID]
    options: Annotated[dict[str, Any], doc("As they were sent.")]
    context_layout: Annotated[str, choice(ContextLayout.values)]
    shared_with: Annotated[list[int], doc("Ids of groups; of an agent of somebody else: empty.")]
    shared_with_users: Annotated[list[str], doc("User names; of an agent of somebody else: empty.")]
    is_shared_by_name: Annotated[
        bool,
        doc("Whether somebody else shares it with the user by name, so that `share/` takes it off the list."),
    ]
    shared_by: Annotated[str | None, doc("Whose it is; null: the user's own.")]
    created_at: Moment
    updated_at: Moment


class GroupAnswer(Answer):
    id: int
    name: str
    is_member: Annotated[bool, doc("Whether the user is one.")]


class AgentsView(StrictAPIView):
    @documented("agents_list", answer=list[AgentAnswer], parameters=newest_rows_parameters("agents"))
    def get(self, request: Request) -> Response:
        """List the user's agents and those shared with the user or the user's groups, latest update first, at most 200.
        The next page is `before` the last agent.
        """
        user = current_user(request)
        usable = Agent.objects.usable_by(user)
        rows, headers = read_newest_rows(request, usable, "agent", ("prompt", "reminder", "tools"))
        return Response(present_agents(rows, user), headers=headers)

    @documented("agents_create", body=AgentBody, answer=AgentAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """Create an agent. After many unknown user names, more are refused for some time (429)."""
        owner = current_user(request)
        fields = _validated_fields(owner, self.parse(AgentBody).members())
        audience = pop_audience(owner, fields, None)
        with quotas.AGENTS.room_for_one(owner):
            agent = Agent.objects.create(owner=owner, **fields)
            share(owner, agent, audience)
        return Response(present_agent(agent, owner), status.HTTP_201_CREATED)


class AgentView(StrictAPIView):
    @documented("agents_read", answer=AgentAnswer)
    def get(self, request: Request, agent: str) -> Response:
        """Read an agent: an own agent, or one that is shared with the user or a group of the user."""
        user = current_user(request)
        return Response(present_agent(get_own_row(Agent.objects.usable_by(user), agent, "agent"), user))

    @documented("agents_replace", body=AgentBody, answer=AgentAnswer)
    def put(self, request: Request, agent: str) -> Response:
        """Replace an agent; omitted fields get their default."""
        return self._change(request, _get_own_agent(request, agent), self.parse(AgentBody).members())

    @documented("agents_update", body=patched(AgentBody), answer=AgentAnswer)
    def patch(self, request: Request, agent: str) -> Response:
        """Update an agent; omitted fields stay as they are."""
        return self._change(request, _get_own_agent(request, agent), self.parse(patched(AgentBody)).members())

    @documented("agents_delete", statuses=(204,))
    def delete(self, request: Request, agent: str) -> Response:
        """Delete an agent. Its sessions continue without an agent."""
        _get_own_agent(request, agent).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _change(self, request: Request, agent: Agent, body: dict[str, Any]) -> Response:
        user = current_user(request)
        fields = _validated_fields(user, body, agent)
        audience = pop_audience(user, fields, agent)
        with transaction.atomic():
            quotas.lock_user(user)  # before the agent, as the creation of a session does
            if not agent.change(**fields):
                raise ApiError("agent_not_found")
            share(user, agent, audience)
        return Response(present_agent(agent, user))


class AgentShareView(StrictAPIView):
    @documented("agents_leave", statuses=(204,))
    def delete(self, request: Request, agent: str) -> Response:
        """Remove the user from those with whom the agent is shared by name. Idempotent; it stays shared with groups."""
        user = current_user(request)
        get_own_row(Agent.objects.usable_by(user), agent, "agent").shared_with_users.remove(user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class GroupsView(StrictAPIView):
    @documented("groups_list", answer=list[GroupAnswer])
    def get(self, request: Request) -> Response:
        """List the groups with which the user may share agents, or has done so, by name."""
        user = current_user(request)
        own = set(user.groups.values_list("pk", flat=True))
        shared = Group.objects.filter(agents__owner=user).values("pk")
        groups = Group.objects.filter(Q(pk__in=groups_to_share_with(user)) | Q(pk__in=shared))
        rows = groups.order_by("name")
        return Response([GroupAnswer.from_row(group, is_member=group.pk in own).json() for group in rows])


def _get_own_agent(request: Request, pk: str) -> Agent:
    """Return an agent of the user. Raises ApiError: `permission_denied` for an agent that is shared with the user."""
    agent = get_own_row(Agent.objects.usable_by(current_user(request)), pk, "agent")
    if agent.owner_id != current_user(request).pk:
        raise ApiError("permission_denied")
    return agent


def _validated_fields(owner: User, body: dict[str, Any], stored: Agent | None = None) -> dict[str, Any]:
    """Return the fields to store; check that models and knowledge bases exist. Raises ApiError.

    stored: the agent, whose current knowledge bases may stay.
    """
    choose_bases(owner, body.get("knowledge_bases", ()), stored.knowledge_bases if stored else ())
    check_offered(body.get("models"))
    if "options" in body:
        body["options"] = merge_options(body["options"])
    return body


def present_agents(agents: Iterable[Agent], reader: Any) -> list[JSONObject]:
    """Present agents as `reader` sees them; loads related rows for all of them at once."""
    rows = list(agents)
    foreign = [base for agent in rows if agent.owner_id != reader.pk for base in agent.knowledge_bases]
    bases = KnowledgeBase.objects.visible_to(reader).filter(pk__in=foreign)
    known = set(bases.values_list("pk", flat=True)) if foreign else set()
    prefetch_related_objects(rows, "owner", "shared_with", "shared_with_users")
    return [_present_agent(agent, reader, known) for agent in rows]


def present_agent(agent: Agent, reader: Any) -> JSONObject:
    """Present an agent as `reader` sees it; if another user shares it, only with bases that `reader` is a member of."""
    return present_agents([agent], reader)[0]


def _present_agent(agent: Agent, reader: Any, known: set[Any]) -> JSONObject:
    """Present one agent. known: the knowledge bases of others' agents that `reader` is a member of."""
    is_own = agent.owner_id == reader.pk
    users = agent.shared_with_users.all()
    return AgentAnswer.from_row(
        agent,
        knowledge_bases=[base for base in agent.knowledge_bases if is_own or base in known],
        options=present_options(agent.options),
        shared_with=[group.pk for group in agent.shared_with.all()] if is_own else [],
        shared_with_users=sorted(user.get_username() for user in users) if is_own else [],
        is_shared_by_name=reader.pk in {user.pk for user in users},
        shared_by=None if is_own else agent.owner.get_full_name() or agent.owner.get_username(),
    ).json()


urlpatterns = [
    path("agents/", AgentsView.as_view()),
    path("agents/<id:agent>/", AgentView.as_view()),
    path("agents/<id:agent>/share/", AgentShareView.as_view()),
    path("groups/", GroupsView.as_view()),
]
