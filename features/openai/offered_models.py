"""What a request may name as its model: the models that users may choose, and `agent/<lowercase name>`."""

from collections.abc import Iterator
from typing import Final

from chat.models import Agent, ModelConfig, Preferences, Session
from chat.protocol.errors import ApiError
from chat.protocol.strict_json import is_storable
from chat.turns.selection import choose_models, standing_choices
from features.openai.authentication import Caller

AGENT_PREFIX: Final = "agent/"
NO_MODEL: Final = "There is no such model."


def agent_id(agent: Agent) -> str:
    return f"{AGENT_PREFIX}{agent.name.lower()}"


def list_models(caller: Caller) -> list[ModelConfig | Agent]:
    """Return the models, the default first, and then the agents, each under an id of its own."""
    configs = [] if caller.agent_id else list(ModelConfig.objects.offered())
    by_id: dict[str, ModelConfig | Agent] = {config.name: config for config in configs}
    for agent in _agents(caller):
        by_id.setdefault(agent_id(agent), agent)
    return list(by_id.values())


def find_model(caller: Caller, name: str) -> ModelConfig | Agent:
    """Return the model or the agent of this id. Raises ApiError if the caller may use none."""
    if is_storable(name):
        for config in () if caller.agent_id else ModelConfig.objects.offered_named([name]):
            return config
        for agent in _agents(caller) if name.startswith(AGENT_PREFIX) else ():
            if agent_id(agent) == name:
                return Agent.objects.get(pk=agent.pk)
    raise ApiError("not_found", NO_MODEL, field="model")


def unnamed_model(caller: Caller) -> Agent | None:
    """Return what a request is for that names no model: the agent that the token is for. Raises ApiError if that is gone."""
    if caller.agent_id is None:
        return None
    agent = caller.agents().first()
    if agent is None:
        raise ApiError("not_found", NO_MODEL, field="model")
    return agent


def next_model(session: Session) -> str:
    """Return the first of the models that would answer next in a session. Raises ApiError if there is none."""
    choices = standing_choices(session, Preferences.objects.of_user(session.owner).models)
    return choose_models(list(ModelConfig.objects.offered()), None, choices)[0].name


def _agents(caller: Caller) -> Iterator[Agent]:
    """Yield the agents that the caller may use, without their prompts: of equal names, the user's own and the latest precede."""
    agents = caller.agents().only("name", "owner_id", "created_at")
    yield from sorted(agents, key=lambda agent: agent.owner_id != caller.user.pk)
