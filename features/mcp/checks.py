"""The system check of rows that earlier versions accepted. Runs with `check --database default`, and at each migration."""

from collections.abc import Sequence
from typing import Any

from django.core.checks import CheckMessage, Tags, Warning, register  # noqa: A004  Django's name
from django.db import DatabaseError


@register(Tags.database)
def check_variables(databases: Sequence[str] | None = None, **kwargs: Any) -> list[CheckMessage]:  # noqa: ARG001
    """Warn of MCP servers whose rows name a variable that they are not given: they are down until it has another name."""
    if not databases:
        return []
    from chat.models import McpServer
    from features.mcp.server_rules import named_variables, variable_problem

    try:
        servers = list(McpServer.objects.without_documents().defer("tools"))
    except DatabaseError:
        return []  # before its migration
    return [
        Warning(f"MCP server {server.name}: {problem}", id="turnwire.W005")
        for server in servers
        for problem in filter(None, map(variable_problem, named_variables(server)))
    ]
