"""What a user may attach of MCP servers, and what became of what they have asked for."""

from django.utils import timezone

from chat.models import McpCatalog, McpRequest, McpServer
from chat.models.mcp_request import McpRequestStatus
from chat.presenters.files import present_file
from chat.presenters.json_values import JSONObject


def present_mcp_catalog(server: McpServer, sign_in_state: str, catalog: McpCatalog | None) -> JSONObject:
    """Of who asks. catalog: None: nothing can be attached at the moment."""
    return {
        "server": str(server.pk),
        "name": server.name,
        "status": server.status,
        "sign_in_state": sign_in_state,
        "resources": catalog.resources if catalog else [],
        "prompts": catalog.prompts if catalog else [],
    }


def present_mcp_request(request: McpRequest) -> JSONObject:
    """One that no worker has answered in its time has failed."""
    shown: JSONObject = {
        "id": str(request.pk),
        "server": str(request.server_id),
        "kind": request.kind,
        "status": request.status,
        "text": request.text,
        "file": present_file(request.file) if request.file else None,
        "error": None,
    }
    code, problem = request.error_code, request.problem
    if request.status == McpRequestStatus.WAITING and request.expires_at < timezone.now():
        shown["status"] = McpRequestStatus.FAILED.value
        code, problem = "mcp_server_unavailable", f"{request.server.name}: There was no answer in time."
    if code:
        shown["error"] = {"code": code, "message": problem}
    return shown
