"""Resolves a model configuration to the address, key and limits used for its requests."""

import os

from chat.infrastructure.encryption import EncryptionUnavailable, UnreadableSecret
from chat.models import ModelConfig, Provider
from chat.models.provider import server_address
from llm_worker.upstream.deltas import ModelFailed
from llm_worker.upstream.model_request import Model


def resolve_model(config: ModelConfig) -> Model | None:
    """Return the address, key and limits of a model; None if it has no address.

    Reads the database: a model with a provider has the current values of that provider. Raises ModelFailed if its row
    names an address or a variable that no row may name, or if its provider cannot be used.
    """
    if problems := config.problems():
        raise ModelFailed("model_not_configured", f"{config.name}: {' '.join(problems.values())}")
    base_url = server_address(config.base_url, config.provider)
    # Not a setting: the name of the variable is data, so that adding a model needs no release.
    api_key = key_of(config.provider) if config.provider else os.environ.get(config.api_key_env, "")
    if not base_url:
        return None
    source = config.source
    return Model(
        name=config.name_at_server,
        base_url=base_url,
        api_key=api_key,
        is_guarded=config.provider_id is not None,
        max_output_tokens=config.max_output_tokens,
        takes_prefill=config.supports_prefill,
        takes_prompt_cache_key=config.supports_prompt_cache_key,
        takes_tool_choice_none=config.supports_tool_choice_none,
        requires_alternating_roles=config.requires_alternating_roles,
        max_requests=config.max_requests,
        dialect=config.dialect_at(source),
        redirects_to=config.redirect_at(source),
        row=config.pk,
    )


def key_of(provider: Provider) -> str:
    """Return the provider's key. Raises ModelFailed if the provider is disabled, or its key cannot be decrypted."""
    if not provider.is_enabled:
        raise ModelFailed("model_not_configured", f"the provider {provider.name} is disabled or deleted")
    try:
        return provider.api_key
    except EncryptionUnavailable:
        raise ModelFailed("model_not_configured", "SECRETS_KEYS is not set for the llm workers") from None
    except UnreadableSecret:
        raise ModelFailed(
            "model_not_configured",
            f"no key of SECRETS_KEYS decrypts that of the provider {provider.name}",
        ) from None
