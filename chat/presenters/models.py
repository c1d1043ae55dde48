"""Language models as clients see them."""

from collections.abc import Collection

from chat.models import ModelConfig
from chat.presenters.json_values import JSONObject


def present_model(model: ModelConfig, preferred: Collection[str]) -> JSONObject:
    """preferred: the names of the user's own default models."""
    return {
        "name": model.name,
        "context_window": model.context_window,
        "supports_vision": model.supports_vision,
        "supports_tools": model.supports_tools,
        "max_output_tokens": model.most_output_tokens,
        "unsupported_options": model.refused_options,
        "is_default": model.is_default,
        "is_own_default": model.name in preferred,
        "is_demo": model.is_demo,
    }
