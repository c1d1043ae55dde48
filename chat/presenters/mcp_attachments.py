"""Resources and prompts of MCP servers that a user may attach, and the user's requests for them."""

from typing import Annotated
from uuid import UUID

from django.utils import timezone

from chat.models import McpCatalog, McpRequest, McpServer
from chat.models.mcp_request import McpRequestKind, McpRequestStatus
from chat.models.mcp_server import McpStatus
from chat.presenters.files import FileAnswer, describe_file
from chat.presenters.json_values import JSONObject
from chat.presenters.mcp_servers import NEEDS_SIGN_IN, NOT_NEEDED, SIGNED_IN
from chat.protocol.answer import Answer
from chat.protocol.member_types import choice, doc


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
