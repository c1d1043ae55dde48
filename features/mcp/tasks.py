"""The Celery tasks of MCP servers, which the llm workers have. A draining worker does nothing."""

from celery import shared_task

from features.mcp.attachments import ANSWER_MCP_REQUEST
from features.mcp.client.attachment_requests import answer_request
from features.mcp.client.connections import Connections
from features.mcp.client.credentials import revoke
from features.mcp.client.listing import list_server
from features.mcp.client.sign_ins import advance_sign_in
from features.mcp.sign_ins import ADVANCE_MCP_SIGN_IN, REVOKE_MCP_TOKENS
from features.mcp.tool_lists import LIST_MCP_TOOLS
from llm_worker.attempt import runtime
from llm_worker.worker_part import part_of


@shared_task(name=LIST_MCP_TOOLS)
def list_mcp_tools(*, server_id: str, credential_id: str = "", **_later: object) -> None:
    """List the tools of an MCP server. A second delivery lists them again. After a drain, the list is requested again."""
    runtime.current().run_beside(
        lambda services: list_server(
            server_id, services.database, part_of(services.parts, Connections), credential_id
        )
    )


@shared_task(name=ADVANCE_MCP_SIGN_IN)
def advance_mcp_sign_in(*, sign_in_id: str, **_later: object) -> None:
    """Find where a user signs in, or exchange the code. A second delivery does nothing. After a drain, users begin again."""
    runtime.current().run_beside(lambda services: advance_sign_in(sign_in_id, services.database))


@shared_task(name=ANSWER_MCP_REQUEST)
def answer_mcp_request(*, request_id: str, **_later: object) -> None:
    """Read a resource or fill in a prompt of an MCP server. Once there is an answer, another delivery does nothing.
    After a drain, users ask again.
    """
    runtime.current().run_beside(
        lambda services: answer_request(request_id, services.database, part_of(services.parts, Connections))
    )


@shared_task(name=REVOKE_MCP_TOKENS)
def revoke_mcp_tokens(*, revocation_id: str, **_later: object) -> None:
    """Ask the issuer of tokens to revoke them. A second delivery does nothing. After a drain, they expire by themselves."""
    runtime.current().run_beside(lambda services: revoke(revocation_id, services.database))
