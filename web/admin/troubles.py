"""Tools that failed and MCP servers that are down, for the admin's start page."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from chat.models import McpServer
from chat.models.mcp_server import McpStatus
from chat.models.tool_call import ToolCallStatus
from web.admin.recent_failures import PERIOD
from web.admin.tool_rows import load_tool_rows


class FailingTool(NamedTuple):
    """A tool of which calls failed within PERIOD. url: the list of these calls; empty if the user may not see them."""

    name: str
    failed: int
    calls: int
    url: str


def list_failing_tools(user: Any) -> Sequence[FailingTool]:
    """Return the tools with the most failed calls first."""
    since = timezone.now() - PERIOD
    calls = reverse("admin:chat_toolcall_changelist") if user.has_perm("chat.view_toolcall") else ""
    filters = {"status__exact": ToolCallStatus.FAILED.value, "created_at__gte": since.isoformat()}
    failing = [row for row in load_tool_rows(since) if row.failed]
    return [
        FailingTool(
            row.name, row.failed, row.calls, calls and f"{calls}?{urlencode({**filters, 'name': row.name})}"
        )
        for row in sorted(failing, key=lambda row: -row.failed)
    ]


def list_servers_down(user: Any) -> Sequence[McpServer]:
    """Return the enabled MCP servers that did not list their tools, as far as the user may see them."""
    if not user.has_perm("chat.view_mcpserver"):
        return []
    return list(McpServer.objects.filter(is_enabled=True, status=McpStatus.DOWN).only("name", "problem"))
