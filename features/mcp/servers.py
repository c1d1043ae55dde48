"""Creates and changes MCP servers."""

from collections.abc import Mapping
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from chat.models import McpServer
from chat.protocol.errors import ApiError
from features.mcp import server_rules
from features.mcp.listing_requests import request_listing

MAX_SERVERS: Final = 100


def create_server(user: User, fields: Mapping[str, Any]) -> McpServer:
    """Create a server, and request the list of its tools. Raises ApiError."""
    server_rules.check(McpServer(**fields).edited)
    if McpServer.objects.count() >= MAX_SERVERS:
        raise ApiError("too_many_mcp_servers", max=MAX_SERVERS)
    try:
        with transaction.atomic():
            server = McpServer.objects.create(created_by=user, **fields)
    except IntegrityError:
        raise ApiError("mcp_server_name_taken", field="name") from None
    request_listing(server)
    return server


def change_server(server: McpServer, fields: Mapping[str, Any]) -> None:
    """Change these fields of a server. Raises ApiError. The caller has its tools listed (tool_lists.py)."""
    changed = server.edited | dict(fields)
    server_rules.check(changed, is_demo_command=server.is_demo and changed["command"] == server.command)
    if changed["command"] != server.command:
        fields = {**fields, "is_demo": False}
    try:
        with transaction.atomic():
            server.change(**fields)
    except IntegrityError:
        raise ApiError("mcp_server_name_taken", field="name") from None
