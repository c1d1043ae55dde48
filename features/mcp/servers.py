"""MCP servers: created, changed, and shown to everybody and to staff."""

from collections.abc import Collection, Iterable, Mapping
from typing import Annotated, Any, Final
from uuid import UUID

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from msgspec import UNSET, UnsetType

from chat.models import McpServer
from chat.models.mcp_server import EDITED, McpStatus, SignInOf, Transport
from chat.presenters.json_values import JSONObject
from chat.presenters.page_bytes import PAGE_BYTES
from chat.protocol.answer import Answer, Moment, choice, doc
from chat.protocol.errors import ApiError
from chat.transcript.tools import ApprovalRule, Tools, first_sentence
from features.mcp import server_rules
from features.mcp.sign_ins import NEEDS_SIGN_IN, NOT_NEEDED, SIGNED_IN
from features.mcp.tool_lists import request_listing

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


# What is left of a description where there is no room for more.
SHORT_DESCRIPTION: Final = 100


class McpToolAnswer(Answer):
    name: Annotated[str, doc("As agents and chats list it.")]
    description: str
    summary: Annotated[str, doc("The first sentence of the description.")]
    read_only: bool


class McpServerAnswer(Answer, kw_only=True):
    id: UUID
    name: str
    status: Annotated[str, choice(McpStatus.values)]
    sign_in_state: Annotated[
        str,
        choice(
            [NOT_NEEDED, NEEDS_SIGN_IN, SIGNED_IN],
            "Of who asks: calls of a server that needs it wait until its user has signed in.",
        ),
    ]
    tools: Annotated[list[McpToolAnswer], doc("Those that may be chosen now.")]
    # For staff who may view or change servers.
    transport: Annotated[str | UnsetType, choice(Transport.values)] = UNSET
    command: list[str] | UnsetType = UNSET
    url: str | UnsetType = UNSET
    base_url: str | UnsetType = UNSET
    env: dict[str, str] | UnsetType = UNSET
    headers: dict[str, str] | UnsetType = UNSET
    query: dict[str, str] | UnsetType = UNSET
    oauth_issuer: str | UnsetType = UNSET
    oauth_client_id: str | UnsetType = UNSET
    oauth_client_secret: str | UnsetType = UNSET
    assumes_pkce: bool | UnsetType = UNSET
    sends_structured: bool | UnsetType = UNSET
    sign_in: Annotated[str | UnsetType, choice(SignInOf.values)] = UNSET
    approval: Annotated[str | UnsetType, choice(ApprovalRule)] = UNSET
    enabled_tools: list[str] | UnsetType = UNSET
    is_enabled: bool | UnsetType = UNSET
    problem: Annotated[
        str | UnsetType, doc("Why it is down, or which of its tools are left out; empty: neither.")
    ] = UNSET
    unconfirmed_tools: Annotated[
        list[str] | UnsetType,
        doc(
            "The server's own names of tools that ask more than it says they must: it has listed weaker hints, or a new tool, since staff last saved the server or had it listed again, which confirms them."
        ),
    ] = UNSET
    all_tools: Annotated[list[str] | UnsetType, doc("The server's own names.")] = UNSET
    listed_at: Moment | UnsetType | None = UNSET


def shorten_descriptions(servers: Iterable[JSONObject]) -> None:
    """Cut the descriptions of tools in a list once those before them fill a page."""
    room = PAGE_BYTES
    for tool in (tool for server in servers for tool in server["tools"]):
        room -= len(tool["description"]) + len(tool["summary"])
        if room < 0:
            tool["description"] = tool["description"][:SHORT_DESCRIPTION]


def present_mcp_server(
    server: McpServer, sign_in_state: str, own: Tools | None, unconfirmed: Collection[str] | None
) -> JSONObject:
    """Present a server. sign_in_state: that of the user who asks (sign_ins.py).
    own: what the server lists to this user.  unconfirmed: of tool_lists.py, for staff; None: they are not.
    Values of environment variables are in no row and in no answer.
    """
    tools = [
        McpToolAnswer(
            name=tool["name"],
            description=tool["description"],
            summary=first_sentence(tool["description"]),
            read_only=tool["read_only"],
        )
        for tool in server.offered_to(own)
    ]
    for_them = {
        **{name: getattr(server, name) for name in EDITED if name != "document"},
        "problem": server.problem,
        "unconfirmed_tools": sorted(unconfirmed or ()),
        "all_tools": [tool["tool"] for tool in server.tools],
        "listed_at": server.listed_at,
    }
    members = {"name": server.name, **({} if unconfirmed is None else for_them)}
    return McpServerAnswer(
        id=server.pk, status=server.status, sign_in_state=sign_in_state, tools=tools, **members
    ).json()
