"""Views of the offers of MCP servers for messages: resources become files of the user, prompts become texts."""

from typing import Annotated, Final
from uuid import UUID

from django.utils import timezone
from msgspec import Meta
from rest_framework import status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import McpCatalog, McpRequest, McpServer
from chat.models.mcp_attachments import McpRequestKind, McpRequestStatus
from chat.models.mcp_server import McpStatus
from chat.presenters.files import FileAnswer, describe_file
from chat.presenters.json_values import JSONObject
from chat.protocol.answer import Answer, choice, doc
from chat.protocol.body import Body, Text
from features.mcp.attachments import (
    MAX_ARGUMENT_CHARACTERS,
    attach_resource,
    fill_prompt,
    list_attachables,
)
from features.mcp.sign_in_api import McpUserPermission, get_enabled_server
from features.mcp.sign_ins import NEEDS_SIGN_IN, NOT_NEEDED, SIGNED_IN
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.openapi import documented


class McpResourceAnswer(Answer):
    uri: str
    name: str
    description: str
    content_type: Annotated[str, doc("As the server says; empty: it does not.")]
    size: Annotated[int | None, doc("Bytes, as the server says.")]


class McpArgumentAnswer(Answer):
    name: str
    title: str
    description: str
    required: bool


class McpPromptAnswer(Answer):
    name: str
    title: str
    description: str
    arguments: list[McpArgumentAnswer]


class McpCatalogAnswer(Answer):
    server: UUID
    name: str
    status: Annotated[str, choice(McpStatus)]
    sign_in_state: Annotated[str, choice([NOT_NEEDED, NEEDS_SIGN_IN, SIGNED_IN])]
    resources: list[McpResourceAnswer]
    prompts: list[McpPromptAnswer]


class McpRequestErrorAnswer(Answer):
    code: str
    message: Annotated[str, doc("One sentence, with the server's name.")]


class McpRequestAnswer(Answer):
    id: UUID
    server: UUID
    kind: Annotated[str, choice(McpRequestKind)]
    status: Annotated[str, choice(McpRequestStatus)]
    text: Annotated[str, doc("Of a prompt, once it is done.")]
    file: Annotated[FileAnswer | None, doc("Of a resource, once it is done; null as well if it was deleted.")]
    error: McpRequestErrorAnswer | None


def present_mcp_catalog(server: McpServer, sign_in_state: str, catalog: McpCatalog | None) -> JSONObject:
    """Present the catalog of the user who asks. catalog: None: nothing can be attached at the moment."""
    return McpCatalogAnswer.from_row(
        server,
        server=server.pk,
        sign_in_state=sign_in_state,
        resources=catalog.resources if catalog else [],
        prompts=catalog.prompts if catalog else [],
    ).json()


def present_mcp_request(request: McpRequest) -> JSONObject:
    """Present a request. A request that no worker has answered in its time has failed."""
    status, code, problem = request.status, request.error_code, request.problem
    if status == McpRequestStatus.WAITING and request.expires_at < timezone.now():
        status = McpRequestStatus.FAILED
        code, problem = "mcp_server_unavailable", f"{request.server.name}: There was no answer in time."
    return McpRequestAnswer.from_row(
        request,
        server=request.server_id,
        status=status,
        file=describe_file(request.file) if request.file else None,
        error=McpRequestErrorAnswer(code=code, message=problem) if code else None,
    ).json()


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
        attachables = list_attachables(current_user(request))
        return Response([present_mcp_catalog(*attachable) for attachable in attachables])


class McpResourcesView(StrictAPIView):
    permission_classes = (McpUserPermission,)

    @documented("mcp_resources_attach", body=McpResourceBody, answer=McpRequestAnswer, statuses=(202,))
    def post(self, request: Request, server: str) -> Response:
        """Request that a resource is read once and stored as a file of the user.
        `mcp-requests/{mcp_request}/` has the outcome.
        """
        row = get_enabled_server(server)
        begun = attach_resource(current_user(request), row, self.parse(McpResourceBody).uri)
        return Response(present_mcp_request(begun), status.HTTP_202_ACCEPTED)


class McpPromptsView(StrictAPIView):
    permission_classes = (McpUserPermission,)

    @documented("mcp_prompts_fill", body=McpPromptBody, answer=McpRequestAnswer, statuses=(202,))
    def post(self, request: Request, server: str) -> Response:
        """Request that a server fills in a prompt. `mcp-requests/{mcp_request}/` has the text afterwards."""
        row = get_enabled_server(server)
        body = self.parse(McpPromptBody)
        begun = fill_prompt(current_user(request), row, body.name, body.arguments)
        return Response(present_mcp_request(begun), status.HTTP_202_ACCEPTED)


class McpRequestView(StrictAPIView):
    @documented("mcp_requests_read", answer=McpRequestAnswer)
    def get(self, request: Request, mcp_request: str) -> Response:
        """Read the state of a request to an MCP server. It is deleted some minutes after it was begun."""
        own = McpRequest.objects.filter(user=current_user(request)).select_related("server", "file")
        # Pages poll this, and neither text is returned.
        row = get_own_row(own.defer("server__document", "file__text"), mcp_request, "mcp_request")
        return Response(present_mcp_request(row))
