"""The routes of MCP servers, and the views of the servers themselves: everybody reads which tools may be chosen, staff add and change servers."""

from collections.abc import Sequence
from typing import Annotated, Any, Final

from django.db.models import QuerySet
from django.urls import path
from msgspec import Meta
from rest_framework import status
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import McpServer, McpToolList
from chat.models.mcp_server import MAX_DOCUMENT_CHARACTERS, SignInOf, Transport
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import choice, doc
from chat.protocol.body import Body, patched
from chat.protocol.server_tool_names import MAX_SERVER_NAME
from chat.transcript.tools import DEFAULT_RULE, ApprovalRule
from features.mcp.attachment_api import McpCatalogsView, McpPromptsView, McpRequestView, McpResourcesView
from features.mcp.servers import (
    McpServerAnswer,
    change_server,
    create_server,
    present_mcp_server,
    shorten_descriptions,
)
from features.mcp.sign_in_api import McpSignInView
from features.mcp.sign_ins import sign_in_states
from features.mcp.tool_lists import confirm_and_list_again, unconfirmed_tools
from knowledge.fetching.target import MAX_URL_CHARACTERS
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import documented
from web.rest.request_slots import EXPENSIVE

_BY_METHOD: Final = {
    "POST": "chat.add_mcpserver",
    "PATCH": "chat.change_mcpserver",
    "DELETE": "chat.delete_mcpserver",
}
MAX_PARTS: Final = 100


_Url = Annotated[str, Meta(max_length=MAX_URL_CHARACTERS)]
_Name = Annotated[str, Meta(max_length=200)]
_Variables = dict[str, _Name]


class McpServerBody(Body):
    name: Annotated[
        str,
        Meta(max_length=MAX_SERVER_NAME),
        doc("Its tools are called `name__tool`: letters, digits, - and _."),
    ]
    transport: Annotated[str, choice(Transport)]
    command: Annotated[
        list[Annotated[str, Meta(max_length=4_000)]],
        Meta(max_length=MAX_PARTS),
        doc("Of stdio: the program, which MCP_COMMANDS must name, and its arguments."),
    ] = []
    url: Annotated[_Url, doc("Of http; of openapi that of its document.")] = ""
    document: Annotated[
        str,
        Meta(max_length=MAX_DOCUMENT_CHARACTERS),
        doc("Of openapi, instead of a url: the document itself, JSON or YAML. It is not shown again."),
    ] = ""
    base_url: Annotated[
        _Url,
        doc(
            "Of openapi: where the operations are, if not where the document says; headers and query are sent there alone."
        ),
    ] = ""
    env: Annotated[
        _Variables, doc("By name, the environment variable of the workers that has its value.")
    ] = {}
    headers: Annotated[
        _Variables, doc("By header, the environment variable of the workers that has its value.")
    ] = {}
    query: Annotated[
        _Variables,
        doc(
            "Of openapi, by parameter of the query, the environment variable of the workers that has its value."
        ),
    ] = {}
    sign_in: Annotated[
        str,
        choice(
            SignInOf, "Of http: who signs in to a server that demands it, each user, or staff for all users."
        ),
    ] = SignInOf.USER.value
    oauth_issuer: Annotated[
        _Url,
        doc("Of http: the issuer with which staff have registered a client, if it accepts no others."),
    ] = ""
    oauth_client_id: Annotated[str, Meta(max_length=500), doc("The id of that client.")] = ""
    oauth_client_secret: Annotated[
        _Name,
        doc(
            "The environment variable of the workers that has the secret of that client; empty: it has none."
        ),
    ] = ""
    assumes_pkce: Annotated[
        bool, doc("Of http: its issuer takes PKCE with S256, although its metadata does not say so.")
    ] = False
    sends_structured: Annotated[
        bool,
        doc("Models read the structured content of an answer as well if its text leaves some of it out."),
    ] = True
    approval: Annotated[str, choice(ApprovalRule)] = DEFAULT_RULE.value
    enabled_tools: Annotated[
        list[_Name],
        Meta(max_length=1_000),
        doc("The server's own names of those that are offered; empty: all."),
    ] = []
    is_enabled: bool = True


class McpServerPermission(IsAuthenticated):
    """Every logged-in user may read. Staff may change if they have the admin's permission for the method."""

    by_method = _BY_METHOD

    def has_permission(self, request: Request, view: Any) -> bool:
        if not super().has_permission(request, view):
            return False
        user = current_user(request)
        return request.method == "GET" or (
            user.is_staff and user.has_perm(self.by_method.get(str(request.method), "chat.change_mcpserver"))
        )


class McpServerRefreshPermission(McpServerPermission):
    """The permission to change servers for every method, since the view is about an existing server."""

    by_method: dict[str, str] = {}


class McpServersView(StrictAPIView):
    permission_classes: list[type[BasePermission]] = [McpServerPermission]
    slots = EXPENSIVE

    @documented("mcp_servers_list", answer=list[McpServerAnswer])
    def get(self, request: Request) -> Response:
        """List the MCP servers by name, with the tools that agents and chats may choose now.
        Only staff with the permission to view or change servers see disabled servers and how each server is reached.
        Descriptions of tools are cut if there are very many; `mcp-servers/{id}/` has them whole.
        """
        sees_all = _sees_all(request)
        shown = _present(request, list(_visible(sees_all=sees_all)), for_staff=sees_all)
        shorten_descriptions(shown)
        return Response(shown)

    @documented("mcp_servers_create", body=McpServerBody, answer=McpServerAnswer, statuses=(201,))
    def post(self, request: Request) -> Response:
        """Add an MCP server; a worker then lists its tools. Requires staff with the permission to add servers."""
        server = create_server(current_user(request), self.parse(McpServerBody).members())
        [shown] = _present(request, [server], for_staff=True)
        return Response(shown, status.HTTP_201_CREATED)


class McpServerView(StrictAPIView):
    permission_classes: list[type[BasePermission]] = [McpServerPermission]

    @documented("mcp_servers_read", answer=McpServerAnswer)
    def get(self, request: Request, server: str) -> Response:
        """Read an MCP server."""
        sees_all = _sees_all(request)
        row = get_own_row(_visible(sees_all=sees_all), server, "mcp_server")
        [shown] = _present(request, [row], for_staff=sees_all)
        return Response(shown)

    @documented("mcp_servers_update", body=patched(McpServerBody), answer=McpServerAnswer)
    def patch(self, request: Request, server: str) -> Response:
        """Update an MCP server; omitted fields stay as they are. Its tools are listed again, and `unconfirmed_tools` confirmed."""
        found = _get_server(server)
        change_server(found, self.parse(patched(McpServerBody)).members())
        confirm_and_list_again(found)
        [shown] = _present(request, [_get_server(server)], for_staff=True)
        return Response(shown)

    @documented("mcp_servers_delete", statuses=(204,))
    def delete(self, request: Request, server: str) -> Response:  # noqa: ARG002
        """Delete an MCP server. Its tools are not offered any more; their answers stay in the chats."""
        _get_server(server).delete()
        return Response(status=status.HTTP_204_NO_CONTENT)


class McpServerRefreshView(StrictAPIView):
    permission_classes: list[type[BasePermission]] = [McpServerRefreshPermission]

    @documented("mcp_servers_refresh", answer=McpServerAnswer, statuses=(202,))
    def post(self, request: Request, server: str) -> Response:
        """Request that a worker lists the server's tools again. Confirms the hints of `unconfirmed_tools`."""
        confirm_and_list_again(_get_server(server))
        [shown] = _present(request, [_get_server(server)], for_staff=True)
        return Response(shown, status.HTTP_202_ACCEPTED)


def _present(request: Request, servers: Sequence[McpServer], *, for_staff: bool) -> list[JSONObject]:
    states = sign_in_states(current_user(request), servers)
    own = McpToolList.objects.tools_by_server(current_user(request), servers)
    unconfirmed = unconfirmed_tools(servers) if for_staff else {}
    return [
        present_mcp_server(server, states[server], own.get(server.pk), unconfirmed.get(server.pk))
        for server in servers
    ]


def _sees_all(request: Request) -> bool:
    user = current_user(request)
    permissions = ("chat.view_mcpserver", "chat.change_mcpserver")
    return user.is_staff and any(user.has_perm(permission) for permission in permissions)


def _visible(*, sees_all: bool) -> QuerySet[McpServer]:
    servers = McpServer.objects.without_documents()
    return servers if sees_all else servers.filter(is_enabled=True)


def _get_server(pk: str) -> McpServer:
    return get_own_row(McpServer.objects.all(), pk, "mcp_server")


urlpatterns = [
    path("mcp-servers/", McpServersView.as_view()),
    path("mcp-servers/<id:server>/", McpServerView.as_view()),
    path("mcp-servers/<id:server>/refresh/", McpServerRefreshView.as_view()),
    path("mcp-servers/<id:server>/sign-in/", McpSignInView.as_view()),
    path("mcp-servers/<id:server>/resources/", McpResourcesView.as_view()),
    path("mcp-servers/<id:server>/prompts/", McpPromptsView.as_view()),
    path("mcp-catalogs/", McpCatalogsView.as_view()),
    path("mcp-requests/<id:mcp_request>/", McpRequestView.as_view()),
]
