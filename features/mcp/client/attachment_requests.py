"""Answers what users request of a server beside calls: a resource becomes a file, a prompt a text (decision 0182)."""

import asyncio
import logging
import mimetypes
from importlib import import_module
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from django.conf import settings
from django.db import transaction

from chat.models import McpCatalog, McpCredential, McpRequest
from chat.models.mcp_attachments import McpRequestKind, McpRequestStatus
from chat.protocol.errors import ApiError
from chat.protocol.strict_json import storable
from chat.runs import new_files
from features.mcp.client.configuration import CallFailed, CallLost, ServerUnavailable
from features.mcp.client.connections import Connections
from features.mcp.client.server_endpoint import configuration_of
from knowledge.files import blobs
from knowledge.files.file_types import HEAD_BYTES, detect_type, extension
from knowledge.models import File
from llm_worker.database import Database

if TYPE_CHECKING:
    from features.mcp.client.server_resources import ReadResource

logger = logging.getLogger(__name__)

_MAX_PROBLEM: Final = 1_200


async def answer_request(request_id: str, database: Database, connections: Connections) -> None:
    """Fetch the resource or the prompt of a waiting request, and store it or the problem.
    A request is repeated after a crash: it changes nothing at the server.
    """
    found = await database.call_with_retry(_load, request_id)
    if found is None:
        return
    request, credential = found
    try:
        attachments: Any = await asyncio.to_thread(import_module, "features.mcp.client.server_resources")
        configuration = configuration_of(request.server, credential)
        if request.kind == McpRequestKind.PROMPT:
            text = await connections.ask(
                configuration,
                lambda client: attachments.fill_prompt(client, request.target, request.arguments),
            )
            end = McpRequest.objects.end
            await database.call_with_retry(end, request, McpRequestStatus.DONE, text=storable(text))
        else:
            read = await connections.ask(
                configuration, lambda client: attachments.read_resource(client, request.target)
            )
            await database.call(_store_file, request, read)
    except (ServerUnavailable, CallFailed, CallLost, ApiError) as error:
        await database.call_with_retry(_fail, request, error)


def _load(request_id: str) -> tuple[McpRequest, McpCredential | None] | None:
    """Load a waiting request, and the credential of its user for the server. None: there is nothing to do any more."""
    waiting = McpRequest.objects.waiting().filter(pk=request_id, server__is_enabled=True)
    request = waiting.select_related("server", "user").first()
    if request is None:
        return None
    return request, McpCredential.objects.held_by(request.user).filter(server=request.server).first()


def _store_file(request: McpRequest, read: "ReadResource") -> None:
    """Store the resource as a file that the user has uploaded. Raises ApiError."""
    content = read.content
    if len(content) > settings.MAX_FILE_BYTES:
        raise ApiError("file_too_large", limit=settings.MAX_FILE_BYTES)
    name = _name_of(request, read)
    file = new_files.describe_file(request.user, name, content[:HEAD_BYTES], len(content))
    new_files.check_room(request.user, file.size_bytes)  # early; it is decided when the row is stored
    new_files.store_content(BytesIO(content), file)
    with blobs.discarded_on_failure([str(file.content.name)]):
        is_stored = _store_row(request, file)
    if not is_stored:
        blobs.discard(str(file.content.name))


def _store_row(request: McpRequest, file: File) -> bool:
    """Store the file, and end the request with it. Raises ApiError.
    False, with nothing stored: another process was first, or the user does not wait any more.
    """
    with transaction.atomic():
        # The request refers to the file: the file is stored and the request ended, or neither.
        new_files.store_row(request.user, file)
        is_first = McpRequest.objects.end(request, McpRequestStatus.DONE, file=file)
        if not is_first:
            transaction.set_rollback(True)
    return is_first


def _name_of(request: McpRequest, read: "ReadResource") -> str:
    """Return a file name by which the type is recognised, with an ending that fits the content.
    It is the last part of the URI if that has an ending, else the name in the list, else that part, or the whole URI.
    """
    last = unquote(urlsplit(request.target).path).rstrip("/").rpartition("/")[2]
    name = last if extension(last) else _listed_name(request) or last or request.target
    head = read.content[:HEAD_BYTES]
    said = mimetypes.guess_extension(read.content_type.partition(";")[0].strip()) or ""
    if not extension(name):
        name += said
    if detect_type(name, head).mismatch:
        detected = detect_type("", head).content_type
        name += mimetypes.guess_extension(detected) or ""
    return name


def _listed_name(request: McpRequest) -> str:
    catalog = McpCatalog.objects.visible_to(request.user).filter(server=request.server).first()
    listed = catalog.resource(request.target) if catalog else None
    return str(listed["name"]) if listed else ""


def _fail(request: McpRequest, error: Exception) -> None:
    code = _code_of(error)
    reason = error.message if isinstance(error, ApiError) else str(error)
    problem = storable(f"{request.server.name}: {reason}")[:_MAX_PROBLEM]
    logger.info("a %s of the MCP server %s cannot be had: %s", request.kind, request.server, code)
    McpRequest.objects.end(request, McpRequestStatus.FAILED, error_code=code, problem=problem)


def _code_of(error: Exception) -> str:
    if isinstance(error, ApiError):
        return error.code
    if isinstance(error, ServerUnavailable):
        return "mcp_sign_in_needed" if error.needs_sign_in else "mcp_server_unavailable"
    return "mcp_server_refused" if isinstance(error, CallFailed) else "mcp_server_unavailable"
