"""McpCatalog: the resources and prompts that an MCP server has listed, with or without a credential (decision 0182)."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Exists, F, OuterRef, Q

from chat.models.mcp_server import McpServer, SignInOf
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


if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from chat.transcript.tools import Tools


class McpToolListQuerySet(models.QuerySet["McpToolList"]):
    def current(self) -> Self:
        """Select the lists of servers that each user signs in to, and whose configuration has not changed since."""
        return self.filter(revision=F("server__revision"), server__sign_in=SignInOf.USER)

    def by_server(self, user: User | int, servers: Collection[McpServer]) -> Mapping[UUID, McpToolList]:
        """Return this user's lists by the ids of the servers."""
        lists = self.current().filter(user=user, server__in=servers) if servers else ()
        return {tool_list.server_id: tool_list for tool_list in lists}

    def tools_by_server(self, user: User | int, servers: Collection[McpServer]) -> Mapping[UUID, Tools]:
        """Return what is listed to this user by the ids of the servers, for McpServer.offered_to."""
        return {pk: tool_list.tools for pk, tool_list in self.by_server(user, servers).items()}

    def record(self, server: McpServer, user: User, tools: Tools, expires_at: datetime) -> None:
        """Store what the server has listed to the user."""
        listed = {"revision": server.revision, "tools": tools, "expires_at": expires_at}
        self.update_or_create(server=server, user=user, defaults=listed)


class McpToolList(models.Model):
    """tools: as McpServer.tools.  revision: that of the server's configuration.

    It belongs to the user, not to a credential: a call that waits for a sign-in is one of a tool that was listed with the
    credential before.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    server = models.ForeignKey(McpServer, on_delete=models.CASCADE, related_name="tool_lists")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    revision = models.UUIDField()
    tools = models.JSONField(default=list)
    expires_at: models.DateTimeField[datetime, datetime] = models.DateTimeField()

    objects = McpToolListQuerySet.as_manager()

    class Meta:
        verbose_name = "MCP tool list"
        constraints = [
            models.UniqueConstraint(fields=["server", "user"], name="one_mcp_tool_list_of_a_user"),
        ]

    def __str__(self) -> str:
        return f"{self.server}: {self.user}, {len(self.tools)} tools"
