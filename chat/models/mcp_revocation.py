"""McpRevocation: tokens of an MCP server that nobody uses now, until a worker has told their issuer (decision 0182)."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any, Final

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from chat.models.mcp_sign_in import McpCredential, decrypted

# The time within which the issuer is asked. Afterwards the tokens expire by themselves.
REVOCATION_TIME: Final = timedelta(hours=1)


class McpRevocationQuerySet(models.QuerySet["McpRevocation"]):
    def begin(self, credential: McpCredential) -> McpRevocation:
        """Store the encrypted secret of a credential that is being deleted."""
        expires_at: Any = Now() + REVOCATION_TIME
        return self.create(encrypted_secret=credential.encrypted_secret, expires_at=expires_at)

    def pop(self, pk: str) -> McpRevocation | None:
        """Delete the row and return it: whoever gets it asks the issuer, once. None: it is gone."""
        row = self.filter(pk=pk).first()
        return row if row and self.filter(pk=pk).delete()[0] else None


class McpRevocation(models.Model):
    """encrypted_secret: as in McpCredential."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    encrypted_secret = models.TextField(editable=False)
    expires_at = models.DateTimeField(db_index=True)

    objects = McpRevocationQuerySet.as_manager()

    class Meta:
        verbose_name = "MCP revocation"
        constraints = [
            models.CheckConstraint(condition=~Q(encrypted_secret=""), name="mcp_revocation_has_a_secret")
        ]

    def __str__(self) -> str:
        return str(self.pk)

    @property
    def secret(self) -> dict[str, Any]:
        """The decrypted secret. Raises EncryptionUnavailable, UnreadableSecret."""
        return decrypted(self.encrypted_secret)
