"""The tasks of MCP servers, carried out by a runtime of the test."""

from typing import Any

from features.mcp.client.attachment_requests import answer_request
from features.mcp.client.connections import Connections
from features.mcp.client.credentials import revoke
from features.mcp.client.listing import list_server
from features.mcp.client.sign_ins import advance_sign_in
from llm_worker.worker_part import part_of


def list_mcp_tools(runtime: Any, server_id: str) -> None:
    runtime.run_beside(
        lambda services: list_server(server_id, services.database, part_of(services.parts, Connections))
    )


def answer_mcp_request(runtime: Any, request_id: str) -> None:
    runtime.run_beside(
        lambda services: answer_request(request_id, services.database, part_of(services.parts, Connections))
    )


def advance_mcp_sign_in(runtime: Any, sign_in_id: str) -> None:
    runtime.run_beside(lambda services: advance_sign_in(sign_in_id, services.database))


def revoke_mcp_tokens(runtime: Any, revocation_id: str) -> None:
    runtime.run_beside(lambda services: revoke(revocation_id, services.database))
