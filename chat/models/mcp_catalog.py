"""McpCatalog: the resources and prompts that an MCP server has listed, with or without a credential (decision 0182)."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from django.db import models
from django.db.models import Exists, F, OuterRef, Q

from chat.models.mcp_server import McpServer
from chat.models.mcp_sign_in import McpCredential

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class McpCatalogQuerySet(models.QuerySet["McpCatalog"]):
    def current(self) -> Self:
        """Select the catalogs of enabled servers whose configuration has not changed since the listing."""
        return self.filter(revision=F("server__revision"), server__is_enabled=True)

    def visible_to(self, user: User) -> Self:
        """Select one catalog of each server: that listed with the credential with which this user calls the server.
        If the user calls it without a credential, that listed without one.
        """
        held = McpCredential.objects.held_by(user)
        is_held = Q(credential__in=held.values("pk"))
        calls_with_nothing = Q(credential=None) & ~Exists(held.filter(server=OuterRef("server")))
        return self.current().filter(is_held | calls_with_nothing)

    def record(self, server: McpServer, credential: McpCredential | None, **listed: Any) -> None:
        """Store the result of a listing, unless the user has signed out meanwhile."""
        if credential is None or McpCredential.objects.filter(pk=credential.pk).exists():
            self.update_or_create(
                server=server, credential=credential, defaults={"revision": server.revision, **listed}
            )


class McpCatalog(models.Model):
    """resources: [{uri, name, description, content_type, size}], size: bytes or null.
    prompts: [{name, title, description, arguments: [{name, title, description, required}]}].
    credential: the credential of the listing; null: none.  revision: that of the server's configuration.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    server = models.ForeignKey(McpServer, on_delete=models.CASCADE, related_name="catalogs")
    credential = models.ForeignKey(McpCredential, null=True, on_delete=models.CASCADE, related_name="+")
    revision = models.UUIDField()
    resources = models.JSONField(default=list)
    prompts = models.JSONField(default=list)
    expires_at: models.DateTimeField[datetime, datetime] = models.DateTimeField()

    objects = McpCatalogQuerySet.as_manager()

    class Meta:
        verbose_name = "MCP catalog"
        constraints = [
            models.UniqueConstraint(
                fields=["server", "credential"], nulls_distinct=False, name="one_mcp_catalog_of_a_credential"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.server}: {len(self.resources)} resources, {len(self.prompts)} prompts"

    def resource(self, uri: str) -> Mapping[str, Any] | None:
        return next((one for one in self.resources if one["uri"] == uri), None)

    def prompt(self, name: str) -> Mapping[str, Any] | None:
        return next((one for one in self.prompts if one["name"] == name), None)
