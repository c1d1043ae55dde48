"""CRUD views of agents: a user's own prompts with their tools and models."""

from collections.abc import Collection, Sequence
from typing import Any, Final
from uuid import UUID

from django.contrib.auth.models import User
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Agent, ModelConfig
from chat.models.agent import ContextLayout
from chat.presenters.agents import present_agent
from chat.protocol.errors import ApiError
from chat.runs import quotas
from chat.turns.knowledge_bases import check_bindable
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.fields import (
    KnowledgeBasesField,
    ModelNamesField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictSerializer,
    ToolNamesField,
    VisibleCharField,
)
from web.rest.newest_rows import newest_rows_parameters, read_newest_rows
from web.rest.openapi import documented
from web.rest.response_schemas import AgentAnswer

MAX_PROMPT_CHARACTERS: Final = 100_000
MAX_REMINDER_CHARACTERS: Final = 10_000


class AgentBody(StrictSerializer):
    """Omitted fields get their default when an agent is created or replaced, and stay when it is updated."""

    name = VisibleCharField(max_length=200)
    prompt = StrictCharField(max_length=MAX_PROMPT_CHARACTERS)
    replaces_system_prompt = StrictBooleanField(default=False)
    reminder = StrictCharField(max_length=MAX_REMINDER_CHARACTERS, default="")
    tools = ToolNamesField(default=list)
    models = ModelNamesField(default=list)
    knowledge_bases = KnowledgeBasesField(default=list)
    context_layout = StrictChoiceField(choices=ContextLayout.values, default=ContextLayout.MOVING)


class AgentsView(StrictAPIView):
    @documented(
        "agents_list",
        answer=AgentAnswer(many=True),
        parameters=newest_rows_parameters("agents"),
    )
    def get(self, request: Request) -> Response:
        """List the user's agents, the latest updated first, at most 200: the next page is `before` the last one."""
        own = Agent.objects.visible_to(current_user(request))
        return Response([present_agent(agent) for agent in read_newest_rows(request, own, "agent")])

    @documented("agents_create", body=AgentBody, answer=AgentAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """Create an agent."""
        owner = current_user(request)
        fields = _validated_fields(owner, self.body(AgentBody))
        with quotas.AGENTS.room_for_one(owner):
            agent = Agent.objects.create(owner=owner, **fields)
        return Response(present_agent(agent), status.HTTP_201_CREATED)


class AgentView(StrictAPIView):
    @documented("agents_read", answer=AgentAnswer)
    def get(self, request: Request, agent: str) -> Response:
        """Read an agent."""
        return Response(present_agent(_get_own_agent(request, agent)))

    @documented("agents_replace", body=AgentBody, answer=AgentAnswer)
    def put(self, request: Request, agent: str) -> Response:
        """Replace an agent; omitted fields get their default."""
        return self._change(request, _get_own_agent(request, agent), self.body(AgentBody))

    @documented("agents_update", body=AgentBody(partial=True), answer=AgentAnswer)
    def patch(self, request: Request, agent: str) -> Response:
        """Update an agent; omitted fields stay as they are."""
        return self._change(request, _get_own_agent(request, agent), self.body(AgentBody, partial=True))

    @documented("agents_delete", statuses=(204,))
    def delete(self, request: Request, agent: str) -> Response:
        """Delete an agent. Its sessions continue without an agent."""
        _get_own_agent(request, agent).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _change(self, request: Request, agent: Agent, body: dict[str, Any]) -> Response:
        if not agent.change(**_validated_fields(current_user(request), body, agent.knowledge_bases)):
            raise ApiError("agent_not_found")
        return Response(present_agent(agent))


def _get_own_agent(request: Request, pk: str) -> Agent:
    return get_own_row(Agent.objects.visible_to(current_user(request)), pk, "agent")


def _validated_fields(
    owner: User, body: dict[str, Any], stored_bases: Collection[UUID] = ()
) -> dict[str, Any]:
    """Return the fields to store; check that models and knowledge bases exist. Raises ApiError.

    stored_bases: those that the agent has.
    """
    check_bindable(owner, body.get("knowledge_bases", ()), stored_bases)
    check_offered(body.get("models"))
    return body


def check_offered(models: Sequence[str] | None) -> None:
    """Raise ApiError unless all of these distinct models may be asked."""
    if models and len(ModelConfig.objects.offered_named(models)) != len(models):
        raise ApiError("models_invalid", field="models")
