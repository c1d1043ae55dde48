"""What a turn is answered with: the models and the tool that a request names, or that its agent has."""

from collections.abc import Iterable, Sequence

from chat.models import Agent, ModelConfig
from chat.protocol.errors import ApiError


def models(named: tuple[str, ...] | None, agent: Agent | None) -> Sequence[ModelConfig]:
    """The models by name, in the order asked for; without names the agent's, or the default one.

    An agent's models that are not offered any more are left out. Raises ApiError.
    """
    wanted = names(named, agent)
    found = ordered(ModelConfig.objects.offered_named(wanted), wanted) if wanted else []
    if named is not None and len(found) != len(named):
        raise ApiError("models_invalid", field="models")
    return found or [_default()]


def names(named: tuple[str, ...] | None, agent: Agent | None) -> tuple[str, ...] | None:
    """What a request asks for, or else its agent; None: the default model."""
    return named or (tuple(agent.models) if agent and agent.models else None)


def ordered(found: Iterable[ModelConfig], wanted: Iterable[str]) -> list[ModelConfig]:
    """Those of the models that are wanted, as the names stand."""
    by_name = {model.name: model for model in found}
    return [by_name[name] for name in wanted if name in by_name]


def count(named: tuple[str, ...] | None, agent: Agent | None) -> int:
    """How many models will answer, at most."""
    return len(named or (agent and agent.models) or (1,))


def forced_tool(name: str | None, agent: Agent | None) -> str:
    """The tool the first cycle must call, one of the agent's; empty: the model decides. Raises ApiError."""
    if name is None:
        return ""
    if agent is None or name not in agent.tools:
        raise ApiError("tool_unknown", field="forced_tool")
    return name


def _default() -> ModelConfig:
    default = ModelConfig.objects.offered_first()
    if default is None:
        raise ApiError("models_invalid", "No model is configured.", field="models")
    return default
