"""Creates, changes and deletes providers."""

from typing import Any, Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from chat.events import offered_models
from chat.infrastructure import encryption
from chat.models import ModelConfig, Provider
from chat.models.model_server_rules import provider_address_problem
from chat.models.provider import KeyRequired
from chat.protocol.errors import ApiError

MAX_PROVIDERS: Final = 50


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
