"""Stores which models of a provider users may choose, with their windows and prices."""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q

from chat.events import offered_models
from chat.models import ModelConfig, Provider
from chat.protocol.errors import ApiError

MAX_MODELS: Final = 500
MAX_NAME_CHARACTERS: Final = 200


def save_models(provider_id: UUID, given: Sequence[Mapping[str, Any]]) -> None:
    """Create or change models of a provider; its other models do not change. Raises ApiError; then nothing was stored.

    given: fields of ModelConfig, with `upstream_name`, which identifies the model.
    """
    try:
        with transaction.atomic():
            # One writer at a time, since names are chosen and models are counted.
            provider = Provider.objects.existing().select_for_update().filter(pk=provider_id).first()
            if provider is None:
                raise ApiError("provider_not_found")
            for fields in given:
                _save_model(provider, dict(fields))
            if provider.models.count() > MAX_MODELS:
                raise ApiError("too_many_models", max=MAX_MODELS)
            if provider.is_enabled:
                ModelConfig.objects.ensure_default()
            offered_models.announce_change()
    except IntegrityError:
        # Another provider or the admin has stored the name at the same moment.
        raise ApiError("model_name_taken", field="models") from None


def _save_model(provider: Provider, fields: dict[str, Any]) -> None:
    upstream = fields.pop("upstream_name")
    served = Q(upstream_name=upstream) | Q(upstream_name="", name=upstream)
    model = ModelConfig.objects.filter(served, provider=provider).first()
    if model is None:
        model = _new_model(provider, upstream, fields.get("name", ""))
    longest = model.max_output_tokens
    if longest and fields.get("context_window", model.context_window) <= longest:
        raise ApiError("invalid_value", f"The longest answer has {longest} tokens.", field="models")
    name = fields.get("name", model.name)
    if _is_taken(name, model.pk):
        raise ApiError("model_name_taken", f"There is another model {name!r}.", field="models")
    model.change(**fields)


def _new_model(provider: Provider, upstream: str, name: str) -> ModelConfig:
    """Return a new model, not stored yet, or the model of this name of a deleted provider, which keeps its answers."""
    if not name:
        own = f"{upstream} ({provider.name})"[-MAX_NAME_CHARACTERS:]
        name = own if _is_taken(upstream) else upstream
    retired = ModelConfig.objects.filter(name=name, provider__deleted_at__isnull=False).first()
    model = retired or ModelConfig(name=name, enabled=False)
    model.provider, model.upstream_name = provider, upstream
    return model


def _is_taken(name: str, by_others_than: int | None = None) -> bool:
    """Return whether another model has the name. Names of models of deleted providers are free."""
    named = ModelConfig.objects.filter(name=name).exclude(provider__deleted_at__isnull=False)
    return named.exclude(pk=by_others_than or 0).exists()
