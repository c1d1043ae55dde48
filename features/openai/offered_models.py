"""What a request may name as its model: the models that users may choose, and `agent/<lowercase name>`."""

from collections.abc import Iterator
from typing import Final

from django.contrib.auth.models import User

from chat.models import Agent, ModelConfig, Preferences, Session
from chat.protocol.errors import ApiError
from chat.protocol.strict_json import is_storable
from chat.turns.selection import choose_models, standing_choices

AGENT_PREFIX: Final = "agent/"


def agent_id(agent: Agent) -> str:
    return f"{AGENT_PREFIX}{agent.name.lower()}"


def list_models(user: User) -> list[ModelConfig | Agent]:
    """Return the models, the default first, and then the agents, each under an id of its own."""
    configs = list(ModelConfig.objects.offered())
    by_id: dict[str, ModelConfig | Agent] = {config.name: config for config in configs}
    for agent in _agents(user):
        by_id.setdefault(agent_id(agent), agent)
    return list(by_id.values())


def find_model(user: User, name: str) -> ModelConfig | Agent:
    """Return the model or the agent of this id. Raises ApiError if the user may use none."""
    if is_storable(name):
        for config in ModelConfig.objects.offered_named([name]):
            return config
        for agent in _agents(user) if name.startswith(AGENT_PREFIX) else ():
            if agent_id(agent) == name:
                return Agent.objects.get(pk=agent.pk)
    raise ApiError("not_found", "There is no such model.", field="model")


def next_model(session: Session) -> str:
    """Return the first of the models that would answer next in a session. Raises ApiError if there is none."""
    choices = standing_choices(session, Preferences.objects.of_user(session.owner).models)
    return choose_models(list(ModelConfig.objects.offered()), None, choices)[0].name


def _agents(user: User) -> Iterator[Agent]:
    """Yield the agents that the user may use, without their prompts: of equal names, the user's own and the latest precede."""
    agents = Agent.objects.usable_by(user).only("name", "owner_id", "created_at")
    yield from sorted(agents, key=lambda agent: agent.owner_id != user.pk)
