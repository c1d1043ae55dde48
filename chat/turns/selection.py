"""Chooses what answers a turn: models, forced tool and options, from the request, the session or its agent. Pure."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from chat.models import ModelConfig, Session
from chat.protocol.errors import ApiError
from chat.protocol.mcp_names import is_chosen
from chat.transcript.run_options import RunOptions, merge_options

# Names of models, by what is tried first: of a choice whose models are all disabled, the next one answers.
Choices = Sequence[Sequence[str]]


def standing_choices(session: Session, preferred: Sequence[str] = ()) -> Choices:
    """Who answers a turn that names no models: the session's own choice, or else its agent's models, or else `preferred`,
    the owner's for all chats."""
    return [session.own_models, session.agent.models if session.agent else [], preferred]


def model_names(requested: tuple[str, ...] | None, choices: Choices) -> tuple[str, ...] | None:
    """All names that choose_models may need; None: the default model alone."""
    return requested or tuple(dict.fromkeys(name for choice in choices for name in choice)) or None


def choose_models(
    enabled: Sequence[ModelConfig], requested: tuple[str, ...] | None, choices: Choices
) -> list[ModelConfig]:
    """The models that answer, in the order of their names. Raises ApiError if a requested model is not enabled.

    enabled: those of model_names() and the default, at least; the default stands before others that are not named. Models
    of `choices` that are no longer enabled are left out; the default stands in if none remains.
    """
    if not enabled and requested is None:
        raise ApiError("models_invalid", "No model is configured.", field="models")
    if requested is not None:
        chosen = _in_order(enabled, requested)
        if len(chosen) != len(requested):
            missing = set(requested) - {model.name for model in chosen}
            raise ApiError("models_invalid", f"Not offered: {', '.join(sorted(missing))}.", field="models")
        return chosen
    return next(filter(None, (_in_order(enabled, choice) for choice in choices)), [enabled[0]])


def choose_forced_tool(requested: str | None, session: Session, is_configured: Callable[[str], bool]) -> str:
    """The chosen tool that the first cycle must call; empty: the model decides. Raises ApiError.

    is_configured: whether the instance is set up for a tool.
    """
    if requested is None:
        return ""
    if not is_chosen(requested, session.chosen_tools):
        raise ApiError("tool_unknown", field="forced_tool")
    if not is_configured(requested):
        raise ApiError("tool_not_configured", field="forced_tool")
    return requested


def standing_options(session: Session) -> list[RunOptions]:
    """The layers of options below those of a turn: the agent's, and the session's over them."""
    return [session.agent.options if session.agent else {}, session.options]


def choose_options(layers: Iterable[RunOptions], models: Iterable[ModelConfig]) -> dict[str, Any]:
    """The options of a turn that these models answer, each layer over those before it. Raises ApiError for the first that
    one of the models cannot have."""
    options = merge_options(*layers)
    for model in models:
        for name in options:
            if name in model.refused_options:
                raise ApiError(
                    "option_unsupported", f"{model.name} does not support {name}.", field=f"options.{name}"
                )
        if options.get("max_output_tokens", 0) > model.most_output_tokens:
            message = f"An answer of {model.name} has at most {model.most_output_tokens} tokens."
            raise ApiError("option_unsupported", message, field="options.max_output_tokens")
    return options


def _in_order(models: Iterable[ModelConfig], names: Iterable[str]) -> list[ModelConfig]:
    by_name = {model.name: model for model in models}
    return [by_name[name] for name in names if name in by_name]
