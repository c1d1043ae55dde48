"""Tells issuers that tokens are not used any more (RFC 7009).

Failures are only logged: the user is signed out here in any case.
"""

import asyncio
import logging
from importlib import import_module
from typing import Any

from chat.infrastructure.encryption import EncryptionUnavailable, UnreadableSecret
from chat.models import McpRevocation
from llm_worker.database import Database

logger = logging.getLogger(__name__)


async def revoke(revocation_id: str, database: Database) -> None:
    """Revoke the tokens of a row, once: a row that is taken is deleted."""
    row = await database.call(McpRevocation.objects.pop, revocation_id)
    if row is None:
        return
    tokens: Any = await asyncio.to_thread(import_module, "llm_worker.mcp.oauth_tokens")
    requests: Any = await asyncio.to_thread(import_module, "llm_worker.mcp.oauth_requests")
    try:
        await tokens.revoke(tokens.Secret.model_validate(row.secret), requests.send_guarded)
    except (tokens.SignInFailed, EncryptionUnavailable, UnreadableSecret, ValueError) as error:
        # The message of a validation error repeats the secret.
        problem = str(error) if isinstance(error, tokens.SignInFailed) else type(error).__name__
        logger.warning("tokens of an MCP server are not revoked: %s", problem)
