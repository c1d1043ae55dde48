"""Chooses the models, the forced tool and the options of a turn from the request, the session and its agent. Pure."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from chat.models import ModelConfig, Session
from chat.protocol.errors import ApiError
from chat.protocol.server_tool_names import is_chosen
from chat.transcript.answer_settings import RunOptions, merge_options

# Lists of model names, in the order in which they are tried: if all models of one are disabled, the next one is used.
Choices = Sequence[Sequence[str]]


def standing_choices(session: Session, preferred: Sequence[str] = ()) -> Choices:
    """Return the choices for a turn that names no models: of the session, its agent and its owner (`preferred`)."""
    return [session.own_models, session.agent.models if session.agent else [], preferred]


def model_names(requested: Sequence[str] | None, choices: Choices) -> Sequence[str] | None:
    """Return all names that choose_models() may need; None means only the default model."""
    return requested or tuple(dict.fromkeys(name for choice in choices for name in choice)) or None


def choose_models(
    enabled: Sequence[ModelConfig], requested: Sequence[str] | None, choices: Choices
) -> list[ModelConfig]:
    """Return the models that answer, in the order in which they are named.

    enabled: at least the enabled ones of model_names(), and the default, which precedes others that are not named.
    Models of `choices` that are no longer enabled are left out; if none remains, the default answers. Raises ApiError
    if a requested model is not enabled, or if no model is.
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
    """Return the tool that the first cycle must call; empty means that the model decides.

    is_configured: tells whether the instance is set up for a tool. Raises ApiError if the requested tool is not, or if
    it is not among the session's chosen tools.
    """
    if requested is None:
        return ""
    if not is_chosen(requested, session.chosen_tools):
        raise ApiError("tool_unknown", field="forced_tool")
    if not is_configured(requested):
        raise ApiError("tool_not_configured", field="forced_tool")
    return requested


def standing_options(session: Session) -> list[RunOptions]:
    """Return the layers of options below those of a turn: the agent's, then the session's, which override them."""
    return [session.agent.options if session.agent else {}, session.settings.options]


def choose_options(layers: Iterable[RunOptions], models: Iterable[ModelConfig]) -> dict[str, Any]:
    """Merge the layers, each of which overrides those before it, into the options of a turn that these models answer.
    Raises ApiError for the first option that a model does not support."""
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
