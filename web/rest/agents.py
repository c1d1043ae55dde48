"""CRUD views of agents: a user's own prompts with their tools and models."""

from typing import Any, Final

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import Agent, ModelConfig
from chat.models.agent import ContextLayout
from chat.presenters.agents import present_agent
from chat.protocol.errors import ApiError
from chat.protocol.tasks import TOOL_NAMES
from chat.turns.request import check_models
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.fields import (
    ModelNamesField,
    StrictBooleanField,
    StrictCharField,
    StrictChoiceField,
    StrictSerializer,
    StrictUUIDField,
)
from web.rest.openapi import documented
from web.rest.response_schemas import AgentAnswer

MAX_PROMPT_CHARACTERS: Final = 100_000
MAX_REMINDER_CHARACTERS: Final = 10_000


class AgentBody(StrictSerializer):
    """Omitted fields get their default when an agent is created or replaced, and stay when it is updated."""

    name = StrictCharField(max_length=200, allow_blank=False)
    prompt = StrictCharField(max_length=MAX_PROMPT_CHARACTERS)
    replaces_system_prompt = StrictBooleanField(default=False)
    reminder = StrictCharField(max_length=MAX_REMINDER_CHARACTERS, default="")
    tools = serializers.ListField(child=StrictCharField(max_length=64), default=list)
    models = ModelNamesField(default=list)
    knowledge_bases = serializers.ListField(child=StrictUUIDField(), default=list)
    context_layout = StrictChoiceField(choices=ContextLayout.values, default=ContextLayout.MOVING)


class AgentsView(StrictAPIView):
    @documented("agents_list", answer=AgentAnswer(many=True))
    def get(self, request: Request) -> Response:
        """List the user's agents, newest first."""
        return Response([present_agent(agent) for agent in Agent.objects.visible_to(current_user(request))])

    @documented("agents_create", body=AgentBody, answer=AgentAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """Create an agent."""
        agent = Agent.objects.create(owner=current_user(request), **_validated_fields(self.body(AgentBody)))
        return Response(present_agent(agent), status.HTTP_201_CREATED)


class AgentView(StrictAPIView):
    @documented("agents_read", answer=AgentAnswer)
    def get(self, request: Request, agent: str) -> Response:
        """Read an agent."""
        return Response(present_agent(_get_own_agent(request, agent)))

    @documented("agents_replace", body=AgentBody, answer=AgentAnswer)
    def put(self, request: Request, agent: str) -> Response:
        """Replace an agent; omitted fields get their default."""
        return self._change(_get_own_agent(request, agent), self.body(AgentBody))

    @documented("agents_update", body=AgentBody(partial=True), answer=AgentAnswer)
    def patch(self, request: Request, agent: str) -> Response:
        """Update an agent; omitted fields stay as they are."""
        return self._change(_get_own_agent(request, agent), self.body(AgentBody, partial=True))

    @documented("agents_delete", statuses=(204,))
    def delete(self, request: Request, agent: str) -> Response:
        """Delete an agent. Its sessions continue without an agent."""
        _get_own_agent(request, agent).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _change(self, agent: Agent, body: dict[str, Any]) -> Response:
        if not agent.change(**_validated_fields(body)):
            raise ApiError("agent_not_found")
        return Response(present_agent(agent))


def _get_own_agent(request: Request, pk: str) -> Agent:
    return get_own_row(Agent.objects.visible_to(current_user(request)), pk, "agent")


def _validated_fields(body: dict[str, Any]) -> dict[str, Any]:
    """Return the fields to store; check that every tool and model exists. Raises ApiError."""
    if body.pop("knowledge_bases", None):
        raise ApiError("knowledge_base_not_found", field="knowledge_bases")
    if not body.get("name", "-").strip():
        raise ApiError("invalid_value", "The name has no visible text.", field="name")
    if not set(body.get("tools", ())) <= TOOL_NAMES:
        raise ApiError("tool_unknown", field="tools")
    if "tools" in body:
        body["tools"] = list(dict.fromkeys(body["tools"]))
    if body.get("models"):
        names = tuple(body["models"])
        check_models(names)
        if len(ModelConfig.objects.offered_named(names)) != len(names):
            raise ApiError("models_invalid", field="models")
    return body
