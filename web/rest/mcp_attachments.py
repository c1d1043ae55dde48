"""Views of the offers of MCP servers for messages: resources become files of the user, prompts become texts."""

from typing import Annotated, Final

from msgspec import Meta
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import McpRequest
from chat.presenters.mcp_attachments import (
    McpCatalogAnswer,
    McpRequestAnswer,
    present_mcp_catalog,
    present_mcp_request,
)
from chat.protocol.body import Body
from chat.protocol.member_types import doc
from chat.protocol.members import Text
from chat.runs.mcp.server_attachments import (
    MAX_ARGUMENT_CHARACTERS,
    attach_resource,
    fill_prompt,
    list_attachables,
)
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.mcp_sign_ins import McpUserPermission, get_enabled_server
from web.rest.openapi import documented

MAX_NAME: Final = 200
MAX_URI: Final = 2_000


class McpResourceBody(Body):
    uri: Annotated[Text, Meta(max_length=MAX_URI), doc("Of a resource in `mcp-catalogs/`.")]


class McpPromptBody(Body):
    name: Annotated[Text, Meta(max_length=MAX_NAME), doc("Of a prompt in `mcp-catalogs/`.")]
    arguments: Annotated[
        dict[str, Annotated[str, Meta(max_length=MAX_ARGUMENT_CHARACTERS)]], doc("By name.")
    ] = {}


class McpCatalogsView(StrictAPIView):
    permission_classes = (McpUserPermission,)

    @documented("mcp_catalogs_list", answer=list[McpCatalogAnswer])
    def get(self, request: Request) -> Response:
        """List the resources and prompts that MCP servers offer this user for messages, by server name.
        Servers that list nothing before the user has signed in are included.
        """
        found = list_attachables(current_user(request))
        return Response([present_mcp_catalog(*attachable) for attachable in found])


class McpResourcesView(StrictAPIView):
    permission_classes = (McpUserPermission,)

    @documented("mcp_resources_attach", body=McpResourceBody, answer=McpRequestAnswer, statuses=(202,))
    def post(self, request: Request, server: str) -> Response:
        """Request that a resource is read once and stored as a file of the user.
        `mcp-requests/{mcp_request}/` has the outcome.
        """
        found = get_enabled_server(server)
        begun = attach_resource(current_user(request), found, self.parse(McpResourceBody).uri)
        return Response(present_mcp_request(begun), status.HTTP_202_ACCEPTED)


class McpPromptsView(StrictAPIView):
    permission_classes = (McpUserPermission,)

    @documented("mcp_prompts_fill", body=McpPromptBody, answer=McpRequestAnswer, statuses=(202,))
    def post(self, request: Request, server: str) -> Response:
        """Request that a server fills in a prompt. `mcp-requests/{mcp_request}/` has the text afterwards."""
        found = get_enabled_server(server)
        body = self.parse(McpPromptBody)
        begun = fill_prompt(current_user(request), found, body.name, body.arguments)
        return Response(present_mcp_request(begun), status.HTTP_202_ACCEPTED)


class McpRequestView(StrictAPIView):
    @documented("mcp_requests_read", answer=McpRequestAnswer)
    def get(self, request: Request, mcp_request: str) -> Response:
        """Read the state of a request to an MCP server. It is deleted some minutes after it was begun."""
        own = McpRequest.objects.filter(user=current_user(request)).select_related("server", "file")
        # Pages poll this, and neither text is returned.
        row = get_own_row(own.defer("server__document", "file__text"), mcp_request, "mcp_request")
        return Response(present_mcp_request(row))
