"""Agents: a user's own prompts with their tools and models."""

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
from web.rest.fields import Boolean, Choice, Id, ModelNames, StrictSerializer, Text
from web.rest.openapi import documented
from web.rest.schemas import AgentAnswer
from web.rest.view import Endpoint, find, user_of

MAX_PROMPT_CHARACTERS: Final = 100_000
MAX_REMINDER_CHARACTERS: Final = 10_000


class AgentBody(StrictSerializer):
    """What is left out has its default when an agent is made or replaced, and stays when it is changed."""

    name = Text(max_length=200, allow_blank=False)
    prompt = Text(max_length=MAX_PROMPT_CHARACTERS)
    replaces_system_prompt = Boolean(default=False)
    reminder = Text(max_length=MAX_REMINDER_CHARACTERS, default="")
    tools = serializers.ListField(child=Text(max_length=64), default=list)
    models = ModelNames(default=list)
    knowledge_bases = serializers.ListField(child=Id(), default=list)
    context_layout = Choice(choices=ContextLayout.values, default=ContextLayout.MOVING)


class AgentsView(Endpoint):
    @documented("agents_list", answer=AgentAnswer(many=True))
    def get(self, request: Request) -> Response:
        """All of them, newest first."""
        return Response([present_agent(agent) for agent in Agent.objects.visible_to(request.user)])

    @documented("agents_create", body=AgentBody, answer=AgentAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        agent = Agent.objects.create(owner=user_of(request), **_fields(self.body(AgentBody)))
        return Response(present_agent(agent), status.HTTP_201_CREATED)


class AgentView(Endpoint):
    @documented("agents_read", answer=AgentAnswer)
    def get(self, request: Request, agent: str) -> Response:
        return Response(present_agent(_own_agent(request, agent)))

    @documented("agents_replace", body=AgentBody, answer=AgentAnswer)
    def put(self, request: Request, agent: str) -> Response:
        return self._change(_own_agent(request, agent), self.body(AgentBody))

    @documented("agents_update", body=AgentBody(partial=True), answer=AgentAnswer)
    def patch(self, request: Request, agent: str) -> Response:
        return self._change(_own_agent(request, agent), self.body(AgentBody, partial=True))

    @documented("agents_delete", statuses=(204,))
    def delete(self, request: Request, agent: str) -> Response:
        """Its sessions go on without an agent."""
        _own_agent(request, agent).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)

    def _change(self, agent: Agent, body: dict[str, Any]) -> Response:
        if not agent.change(**_fields(body)):
            raise ApiError("agent_not_found")
        return Response(present_agent(agent))


def _own_agent(request: Request, pk: str) -> Agent:
    return find(Agent.objects.visible_to(request.user), pk, "agent")


def _fields(body: dict[str, Any]) -> dict[str, Any]:
    """What an agent stores of the body; every name in it stands for something. Raises ApiError."""
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
