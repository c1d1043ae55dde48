"""Changes of providers and of the models that users may choose, and requests for checks of providers (decision 0053).

A worker makes the checks: it lists the models and tries one (check.py).
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from uuid import UUID, uuid4

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Q

from chat.events import offered_models
from chat.infrastructure import encryption
from chat.models import ModelConfig, Provider
from chat.models.model_server_rules import provider_address_problem
from chat.models.provider import KeyRequired
from chat.protocol.errors import ApiError
from chat.protocol.tasks import DEFAULT_QUEUE
from chat.runs.task_queue import UNREACHABLE, send_message

# provider_id: str, check_id: str. Workers of other releases read the name: do not change it.
CHECK_PROVIDER: Final = "llm_worker.check_provider"
MAX_PROVIDERS: Final = 50
MAX_MODELS: Final = 500
MAX_NAME_CHARACTERS: Final = 200
# Within this time, a check that has not ended is not requested again.
PATIENCE: Final = timedelta(seconds=30)


def create_provider(user: User, *, api_key: str = "", **fields: Any) -> Provider:
    """Create a provider. api_key: empty for none. Raises ApiError."""
    _check_address(fields["base_url"])
    if Provider.objects.existing().count() >= MAX_PROVIDERS:
        raise ApiError("too_many_providers", max=MAX_PROVIDERS)
    try:
        encrypted = encryption.encrypt(api_key) if api_key else ""
        with transaction.atomic():
            return Provider.objects.create(created_by=user, encrypted_api_key=encrypted, **fields)
    except encryption.EncryptionUnavailable:
        raise ApiError("encryption_unavailable", field="api_key") from None
    except IntegrityError:
        raise ApiError("provider_name_taken", field="name") from None


def change_provider(provider: Provider, *, api_key: str | None = None, **fields: Any) -> None:
    """Change a provider as Provider.change() does, and announce its models. Raises ApiError."""
    if "base_url" in fields:
        _check_address(fields["base_url"])
    try:
        with transaction.atomic():
            if not provider.change(api_key=api_key, **fields):
                raise ApiError("provider_not_found")
            ModelConfig.objects.ensure_default()
    except encryption.EncryptionUnavailable:
        raise ApiError("encryption_unavailable", field="api_key") from None
    except KeyRequired:
        raise ApiError("provider_key_required", field="api_key") from None
    except IntegrityError:
        raise ApiError("provider_name_taken", field="name") from None
    offered_models.announce_change()


def delete_provider(provider: Provider) -> None:
    """Delete a provider and its key. Answers of its models stay readable; runs not begun yet fail. Raises ApiError."""
    with transaction.atomic():
        if not provider.retire():
            raise ApiError("provider_not_found")
        ModelConfig.objects.ensure_default()
        offered_models.announce_change()


def _check_address(base_url: str) -> None:
    if problem := provider_address_problem(base_url):
        raise ApiError("provider_address_invalid", problem, field="base_url")


def save_models(provider_id: UUID, models: Sequence[Mapping[str, Any]]) -> None:
    """Create or change models of a provider; its other models do not change. Raises ApiError; then nothing was stored.

    models: fields of ModelConfig, with `upstream_name`, which identifies the model.
    """
    try:
        with transaction.atomic():
            # One writer at a time, since names are chosen and models are counted.
            provider = Provider.objects.existing().select_for_update().filter(pk=provider_id).first()
            if provider is None:
                raise ApiError("provider_not_found")
            for fields in models:
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


def request_check(provider: Provider, model: str | None = None) -> None:
    """Request a check, unless one is pending. Raises ApiError.
    model: its name at the server; empty to try none; None to try an enabled model, if there is one.
    """
    now = datetime.now(UTC)
    if _is_pending(provider, now):
        return
    if model is None:
        enabled = provider.models.filter(enabled=True).order_by("-is_default", "name").first()
        model = enabled.name_at_server if enabled else ""
    check = {"id": str(uuid4()), "status": "queued", "requested_at": now.isoformat(), "model": model}
    if not Provider.objects.existing().filter(pk=provider.pk).update(latest_check=check):
        raise ApiError("provider_not_found")
    try:
        send_message(CHECK_PROVIDER, DEFAULT_QUEUE, provider_id=str(provider.pk), check_id=str(check["id"]))
    except UNREACHABLE:
        Provider.objects.filter(pk=provider.pk, latest_check__id=check["id"]).update(latest_check=None)
        raise ApiError("stream_unavailable", "The check cannot be requested at the moment.") from None
    provider.latest_check = check


def _is_pending(provider: Provider, now: datetime) -> bool:
    check = provider.latest_check
    if not check or check["status"] == "done":
        return False
    return now - datetime.fromisoformat(check["requested_at"]) < PATIENCE
