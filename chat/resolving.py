"""What a turn is answered with: the models and the tool that a request names, or that its agent has."""

from collections.abc import Sequence

from chat.models import Agent, ModelConfig
from chat.refusals import Refusal


def models(named: tuple[str, ...] | None, agent: Agent | None) -> Sequence[ModelConfig]:
    """The models by name, in the order asked for; without names the agent's, or the default one.

    An agent's models that are not offered any more are left out. Raises Refusal.
    """
    if named is not None:
        found = _offered(named)
        if len(found) != len(named):
            raise Refusal("models_invalid", field="models")
        return found
    return (agent and _offered(tuple(agent.models))) or [_default()]


def count(named: tuple[str, ...] | None, agent: Agent | None) -> int:
    """How many models will answer, at most."""
    return len(named or (agent and agent.models) or (1,))


def forced_tool(name: str | None, agent: Agent | None) -> str:
    """The tool the first cycle must call, one of the agent's; empty: the model decides. Raises Refusal."""
    if name is None:
        return ""
    if agent is None or name not in agent.tools:
        raise Refusal("tool_unknown", field="forced_tool")
    return name


def _offered(names: tuple[str, ...]) -> list[ModelConfig]:
    if not names:
        return []
    found = {model.name: model for model in ModelConfig.objects.offered_named(names)}
    return [found[name] for name in names if name in found]


def _default() -> ModelConfig:
    default = ModelConfig.objects.offered_first()
    if default is None:
        raise Refusal("models_invalid", "No model is configured.", field="models")
    return default
