"""Statements about compressions."""

from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.lease import CLAIM_ASSIGNMENTS, IS_CLAIMABLE
from chat.models.sql.statements import Statement


class ClaimedCompression(NamedTuple):
    id: UUID


# Does not wait for a locked row. Parameters: compression, owner, lease (an interval). Plan: primary key.
CLAIM: Final = Statement(
    f"""
    WITH free AS (
        SELECT id FROM chat_compression WHERE id = %(compression)s AND {IS_CLAIMABLE}
        FOR NO KEY UPDATE SKIP LOCKED
    )
    UPDATE chat_compression AS compression SET {CLAIM_ASSIGNMENTS} FROM free
    WHERE compression.id = free.id RETURNING compression.id
    """,  # noqa: S608  constants alone
    ClaimedCompression,
)
