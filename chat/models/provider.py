"""Provider: an OpenAI-compatible server that staff have added on the page, with its key, encrypted (decision 0053).

A deleted one stays, without its key, for the models that have answered; nothing offers or uses it any more.
"""

from __future__ import annotations

import uuid
from typing import Any, Self

from django.conf import settings
from django.contrib.auth.models import AnonymousUser, User
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from chat.infrastructure import encryption
from chat.models.model_server_rules import is_same_server


class KeyRequired(Exception):
    """Another server would be sent the key that was entered for this one."""


class ProviderQuerySet(models.QuerySet["Provider"]):
    def existing(self) -> Self:
        """Select providers that are not deleted, the oldest first."""
        return self.filter(deleted_at=None).order_by("created_at", "id")

    def record_check(self, provider_id: uuid.UUID | str, check: dict[str, Any]) -> bool:
        """Store how a check has ended. False: a later one was requested meanwhile, or the provider is gone."""
        current = self.existing().filter(pk=provider_id, latest_check__id=check["id"])
        return bool(current.update(latest_check=check))


class Provider(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=100)
    base_url = models.CharField(
        max_length=500, help_text="OpenAI-compatible address, which usually ends in /v1."
    )
    # Encrypted by chat/infrastructure/encryption.py; empty: the server is sent no key.
    encrypted_api_key = models.TextField(blank=True, default="", editable=False)
    is_enabled = models.BooleanField(default=True)
    # {id, status, requested_at, …} (features/providers/providers.py); None: it was never checked.
    latest_check = models.JSONField(null=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+", editable=False
    )
    created_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)
    deleted_at = models.DateTimeField(null=True, editable=False)

    objects = ProviderQuerySet.as_manager()

    class Meta:
        ordering = ("name",)
        constraints = [
            models.UniqueConstraint(
                fields=["name"], condition=Q(deleted_at=None), name="one_provider_of_a_name"
            ),
            models.CheckConstraint(condition=~Q(name=""), name="provider_has_a_name"),
            models.CheckConstraint(
                condition=Q(deleted_at=None) | Q(encrypted_api_key="", is_enabled=False),
                name="deleted_provider_has_no_key",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    # Mutators

    def change(self, *, api_key: str | None = None, **fields: Any) -> bool:
        """Set fields that staff may edit. api_key: a new key; empty: no key; None: it stays.
        False: the provider was deleted, or its address or key was changed, meanwhile.

        Raises KeyRequired if the key that is stored would be sent to another server, EncryptionUnavailable.
        """
        if api_key is None:
            if self.has_key and not is_same_server(fields.get("base_url", self.base_url), self.base_url):
                raise KeyRequired
        else:
            fields["encrypted_api_key"] = encryption.encrypt(api_key) if api_key else ""
        fields["updated_at"] = timezone.now()
        # Not if the address or the key has changed since they were read: each belongs to the other.
        unchanged = (
            type(self)
            .objects.existing()
            .filter(pk=self.pk, base_url=self.base_url, encrypted_api_key=self.encrypted_api_key)
        )
        changed = bool(unchanged.update(**fields))
        for name, value in fields.items() if changed else ():
            setattr(self, name, value)
        return changed

    def retire(self) -> bool:
        """Delete it: its key is gone, and its models are not offered. False: it was deleted already."""
        existing = type(self).objects.existing().filter(pk=self.pk)
        retired = existing.update(
            encrypted_api_key="", is_enabled=False, latest_check=None, deleted_at=Now(), updated_at=Now()
        )
        self.models.update(enabled=False, is_default=False)
        return bool(retired)

    # Properties

    @property
    def has_key(self) -> bool:
        return bool(self.encrypted_api_key)

    @property
    def api_key(self) -> str:
        """The decrypted key; empty: the server is sent none. Raises EncryptionUnavailable, UnreadableSecret."""
        return encryption.decrypt(self.encrypted_api_key) if self.encrypted_api_key else ""


def server_address(base_url: str, provider: Provider | None) -> str:
    """Return the address of the server of a model with this address or this provider; empty if none is set."""
    return provider.base_url if provider else base_url or settings.LLM_BASE_URL


def may_view_providers(user: User | AnonymousUser) -> bool:
    return user.is_staff and any(user.has_perm(f"chat.{verb}_provider") for verb in ("view", "change"))
