"""McpRequest: a user's request for a resource or a prompt, which a worker makes to the MCP server (decision 0182)."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from chat.models.mcp_server import McpServer
from chat.models.mcp_sign_in import begin_row
from knowledge.models import File

if TYPE_CHECKING:
    from django.contrib.auth.models import User

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
