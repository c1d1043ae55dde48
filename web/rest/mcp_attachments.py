"""Views of what MCP servers offer to be put into a message: resources become files of the user, prompts texts."""

from typing import Final

from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from chat.models import McpRequest, McpServer
from chat.models.mcp_request import McpRequestKind, McpRequestStatus
from chat.models.mcp_server import McpStatus
from chat.presenters.mcp_attachments import present_mcp_catalog, present_mcp_request
from chat.runs.mcp.attachments import (
    MAX_ARGUMENT_CHARACTERS,
    attach_resource,
    fill_prompt,
    list_attachables,
)
from chat.runs.mcp.sign_ins import NEEDS_SIGN_IN, NOT_NEEDED, SIGNED_IN
from web.rest.api_view import StrictAPIView, current_user, get_own_row
from web.rest.fields import StrictCharField, StrictSerializer
from web.rest.file_schemas import FileAnswer
from web.rest.mcp_servers import VariablesField
from web.rest.mcp_sign_ins import McpUserPermission
from web.rest.openapi import documented
from web.rest.response_schemas import ResponseSchema

KINDS: Final = McpRequestKind.values
STATUSES: Final = McpRequestStatus.values
MAX_NAME: Final = 200
MAX_URI: Final = 2_000


class ArgumentsField(VariablesField):
    child = StrictCharField(max_length=MAX_ARGUMENT_CHARACTERS)


class McpResourceBody(StrictSerializer):
    uri = StrictCharField(
        max_length=MAX_URI, allow_blank=False, help_text="Of a resource in `mcp-catalogs/`."
    )


class McpPromptBody(StrictSerializer):
    name = StrictCharField(
        max_length=MAX_NAME, allow_blank=False, help_text="Of a prompt in `mcp-catalogs/`."
    )
    arguments = ArgumentsField(default=dict, help_text="By name.")


class McpResourceAnswer(ResponseSchema):
    uri = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    content_type = serializers.CharField(help_text="As the server says; empty: it does not.")
    size = serializers.IntegerField(allow_null=True, help_text="Bytes, as the server says.")


class McpArgumentAnswer(ResponseSchema):
    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    # Not an attribute of the class: Django REST framework removes declared fields from it.
    required = serializers.BooleanField()  # type: ignore[assignment]


class McpPromptAnswer(ResponseSchema):
    name = serializers.CharField()
    title = serializers.CharField()
    description = serializers.CharField()
    arguments = McpArgumentAnswer(many=True)


class McpCatalogAnswer(ResponseSchema):
    server = serializers.UUIDField()
    name = serializers.CharField()
    status = serializers.ChoiceField(choices=McpStatus.values)
    sign_in_state = serializers.ChoiceField(choices=[NOT_NEEDED, NEEDS_SIGN_IN, SIGNED_IN])
    resources = McpResourceAnswer(many=True)
    prompts = McpPromptAnswer(many=True)


class McpRequestErrorAnswer(ResponseSchema):
    code = serializers.CharField()
    message = serializers.CharField(help_text="One sentence, with the server's name.")


class McpRequestAnswer(ResponseSchema):
    id = serializers.UUIDField()
    server = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=KINDS)
    status = serializers.ChoiceField(choices=STATUSES)
    text = serializers.CharField(help_text="Of a prompt, once it is done.")
    file = FileAnswer(
        allow_null=True, help_text="Of a resource, once it is done; null as well if it was deleted."
    )
    error = McpRequestErrorAnswer(allow_null=True)


class McpCatalogsView(StrictAPIView):
    permission_classes = (McpUserPermission,)

    @documented("mcp_catalogs_list", answer=McpCatalogAnswer(many=True))
    def get(self, request: Request) -> Response:
        """List what MCP servers offer this user to be put into messages, by the servers' names; those that the user has to sign in to before they list anything are included."""
        found = list_attachables(current_user(request))
        return Response([present_mcp_catalog(*attachable) for attachable in found])


class McpResourcesView(StrictAPIView):
    permission_classes = (McpUserPermission,)

    @documented("mcp_resources_attach", body=McpResourceBody, answer=McpRequestAnswer, statuses=(202,))
    def post(self, request: Request, server: str) -> Response:
        """Have a resource read, once, and stored as a file of the user. `mcp-requests/{mcp_request}/` says how it went."""
        uri = self.body(McpResourceBody)["uri"]
        begun = attach_resource(current_user(request), _get_enabled(server), uri)
        return Response(present_mcp_request(begun), status.HTTP_202_ACCEPTED)


class McpPromptsView(StrictAPIView):
    permission_classes = (McpUserPermission,)

    @documented("mcp_prompts_fill", body=McpPromptBody, answer=McpRequestAnswer, statuses=(202,))
    def post(self, request: Request, server: str) -> Response:
        """Have a prompt filled in by its server. `mcp-requests/{mcp_request}/` has its text then."""
        body = self.body(McpPromptBody)
        begun = fill_prompt(current_user(request), _get_enabled(server), body["name"], body["arguments"])
        return Response(present_mcp_request(begun), status.HTTP_202_ACCEPTED)


class McpRequestView(StrictAPIView):
    @documented("mcp_requests_read", answer=McpRequestAnswer)
    def get(self, request: Request, mcp_request: str) -> Response:
        """Read how a request to an MCP server gets on. It is forgotten some minutes after it was begun."""
        own = McpRequest.objects.filter(user=current_user(request)).select_related("server", "file")
        return Response(present_mcp_request(get_own_row(own, mcp_request, "mcp_request")))


def _get_enabled(pk: str) -> McpServer:
    return get_own_row(McpServer.objects.filter(is_enabled=True), pk, "mcp_server")
