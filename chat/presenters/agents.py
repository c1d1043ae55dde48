"""Agents as clients see them."""

from chat.models import Agent
from chat.presenters.json_values import JSONObject, isoformat_utc


def present_agent(agent: Agent) -> JSONObject:
    return {
        "id": str(agent.pk),
        "name": agent.name,
        "prompt": agent.prompt,
        "replaces_system_prompt": agent.replaces_system_prompt,
        "reminder": agent.reminder,
        "tools": agent.tools,
        "models": agent.models,
        "knowledge_bases": [str(base) for base in agent.knowledge_bases],
        "context_layout": agent.context_layout,
        "created_at": isoformat_utc(agent.created_at),
        "updated_at": isoformat_utc(agent.updated_at),
    }
