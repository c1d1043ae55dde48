"""Chooses what answers a turn: the models and the forced tool, from the request or the session's agent. Pure."""

from collections.abc import Iterable, Sequence

from chat.models import Agent, ModelConfig
from chat.protocol.errors import ApiError


def model_names(requested: tuple[str, ...] | None, agent: Agent | None) -> tuple[str, ...] | None:
    """The names that a request gives, or else its agent; None: the default model."""
    return requested or (tuple(agent.models) if agent and agent.models else None)


def choose_models(
    enabled: Sequence[ModelConfig], requested: tuple[str, ...] | None, agent: Agent | None
) -> list[ModelConfig]:
    """The models that answer, in the order of their names. Raises ApiError if a requested model is not enabled.

    enabled: those named and the default, at least; the default stands before others that are not named. An agent's
    models that are no longer enabled are left out; the default stands in if none remains.
    """
    chosen = _in_order(enabled, model_names(requested, agent) or ())
    if requested is not None and len(chosen) != len(requested):
        raise ApiError("models_invalid", field="models")
    if not (chosen or enabled):
        raise ApiError("models_invalid", "No model is configured.", field="models")
    return chosen or [enabled[0]]


def choose_forced_tool(requested: str | None, agent: Agent | None) -> str:
    """The agent's tool that the first cycle must call; empty: the model decides. Raises ApiError."""
    if requested is None:
        return ""
    if agent is None or requested not in agent.tools:
        raise ApiError("tool_unknown", field="forced_tool")
    return requested


def _in_order(models: Iterable[ModelConfig], names: Iterable[str]) -> list[ModelConfig]:
    by_name = {model.name: model for model in models}
    return [by_name[name] for name in names if name in by_name]
