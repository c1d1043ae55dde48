"""Agents as clients see them."""

from collections.abc import Iterable
from typing import Any

from django.db.models import prefetch_related_objects

from chat.models import Agent
from chat.presenters.json_values import JSONObject, isoformat_utc
from chat.transcript.run_options import present_options
from knowledge.models import KnowledgeBase


def present_agents(agents: Iterable[Agent], reader: Any) -> list[JSONObject]:
    """Loads what stands beside the rows for all of them."""
    rows = list(agents)
    foreign = [base for agent in rows if agent.owner_id != reader.pk for base in agent.knowledge_bases]
    known: set[Any] = set()
    if foreign:
        known = set(
            KnowledgeBase.objects.visible_to(reader).filter(pk__in=foreign).values_list("pk", flat=True)
        )
    prefetch_related_objects(rows, "owner", "shared_with", "shared_with_users")
    return [_present(agent, reader, known) for agent in rows]


def present_agent(agent: Agent, reader: Any) -> JSONObject:
    """As reader sees it: of an agent that somebody else shares, the knowledge bases that reader is a member of."""
    return present_agents([agent], reader)[0]


def _present(agent: Agent, reader: Any, known: set[Any]) -> JSONObject:
    """known: the knowledge bases of others' agents that reader is a member of."""
    is_own = agent.owner_id == reader.pk
    users = agent.shared_with_users.all()
    return {
        "id": str(agent.pk),
        "name": agent.name,
        "emoji": agent.emoji,
        "description": agent.description,
        "questions": agent.questions,
        "prompt": agent.prompt,
        "replaces_system_prompt": agent.replaces_system_prompt,
        "reminder": agent.reminder,
        "tools": agent.tools,
        "models": agent.models,
        "knowledge_bases": [str(base) for base in agent.knowledge_bases if is_own or base in known],
        "options": present_options(agent.options),
        "context_layout": agent.context_layout,
        "shared_with": [group.pk for group in agent.shared_with.all()] if is_own else [],
        "shared_with_users": sorted(user.get_username() for user in users) if is_own else [],
        "is_shared_by_name": reader.pk in {user.pk for user in users},
        "shared_by": None if is_own else agent.owner.get_full_name() or agent.owner.get_username(),
        "created_at": isoformat_utc(agent.created_at),
        "updated_at": isoformat_utc(agent.updated_at),
    }
