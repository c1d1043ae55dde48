"""Resources and prompts of MCP servers: McpCatalog has the listed ones, McpRequest asks for one (decision 0182)."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import UUID

from django.conf import settings
from django.db import models
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Now

from chat.models.mcp_server import McpServer, SignInOf
from chat.models.mcp_sign_in import McpCredential, begin_row
from knowledge.models import File

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from chat.transcript.tools import Tools


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


# A server may take a minute to start, and half a minute to answer.
LIFETIME: Final = timedelta(minutes=2)
# Requests of one user; the oldest give way.
MAX_REQUESTS: Final = 50


class McpRequestKind(models.TextChoices):
    RESOURCE = "resource"
    PROMPT = "prompt"


class McpRequestStatus(models.TextChoices):
    WAITING = "waiting"
    DONE = "done"
    FAILED = "failed"


class McpRequestQuerySet(models.QuerySet["McpRequest"]):
    def waiting(self) -> Self:
        return self.filter(status=McpRequestStatus.WAITING, expires_at__gt=Now())

    def begin(self, user: User, server: McpServer, **asked: Any) -> McpRequest:
        """Create a request. Deletes expired requests, and the user's oldest ones beyond MAX_REQUESTS."""
        return begin_row(self, user, LIFETIME, MAX_REQUESTS, server=server, **asked)

    def end(self, request: McpRequest, status: McpRequestStatus, **fields: Any) -> bool:
        """End a request. False: another process was first, or the request has expired."""
        return bool(self.waiting().filter(pk=request.pk).update(status=status, **fields))


class McpRequest(models.Model):
    """target: the URI of a resource, or the name of a prompt.  text: the prompt that was filled in.
    file: the resource.  error_code, problem: why it failed, the latter a sentence with the server's name.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    server = models.ForeignKey(McpServer, on_delete=models.CASCADE, related_name="+")
    kind = models.CharField(max_length=8, choices=McpRequestKind.choices)
    target = models.CharField(max_length=2_000)
    arguments = models.JSONField(default=dict)
    status = models.CharField(
        max_length=7, choices=McpRequestStatus.choices, default=McpRequestStatus.WAITING
    )
    text = models.TextField(blank=True, default="")
    file = models.ForeignKey(File, null=True, on_delete=models.SET_NULL, related_name="+")
    error_code = models.CharField(max_length=40, blank=True, default="")
    problem = models.CharField(max_length=1_200, blank=True, default="")
    expires_at = models.DateTimeField(db_index=True)

    objects = McpRequestQuerySet.as_manager()

    class Meta:
        verbose_name = "MCP request"
        constraints = [
            models.CheckConstraint(
                condition=Q(kind__in=McpRequestKind.values), name="mcp_request_kind_known"
            ),
            models.CheckConstraint(
                condition=Q(status__in=McpRequestStatus.values), name="mcp_request_status_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.server}: {self.target}"
