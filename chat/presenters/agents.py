"""Agents as clients see them."""

from collections.abc import Iterable
from typing import Annotated, Any
from uuid import UUID

from django.db.models import prefetch_related_objects

from chat.models import Agent
from chat.models.agent import ContextLayout
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer
from chat.protocol.member_types import Moment, choice, doc
from chat.transcript.run_options import present_options
from knowledge.models import KnowledgeBase


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


def present_agents(agents: Iterable[Agent], reader: Any) -> list[JSONObject]:
    """Present agents as `reader` sees them; loads related rows for all of them at once."""
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
    """Present an agent as `reader` sees it; if another user shares it, only with bases that `reader` is a member of."""
    return present_agents([agent], reader)[0]


def _present(agent: Agent, reader: Any, known: set[Any]) -> JSONObject:
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
