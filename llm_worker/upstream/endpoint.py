"""Resolves a model configuration to the address, key and limits used for its requests."""

import os

from django.conf import settings

from chat.models import ModelConfig
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Model


def resolve_model(config: ModelConfig) -> Model | None:
    """None if the model has no address. Raises ModelFailed if its row names an address or a variable that no row may."""
    if problems := config.problems():
        raise ModelFailed("model_not_configured", f"{config.name}: {' '.join(problems.values())}")
    base_url = config.base_url or settings.LLM_BASE_URL
    if not base_url:
        return None
    return Model(
        name=config.name,
        base_url=base_url,
        # Not a setting: the name of the variable is data, so that adding a model needs no release.
        api_key=os.environ.get(config.api_key_env, ""),
        max_output_tokens=config.max_output_tokens,
        takes_prefill=config.supports_prefill,
        takes_prompt_cache_key=config.supports_prompt_cache_key,
        takes_tool_choice_none=config.supports_tool_choice_none,
        requires_alternating_roles=config.requires_alternating_roles,
    )
