"""SQL fragments shared by the claims of all leased tables (chat/models/lease.py), and the claim of a compression; times are the database's."""

from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.statements import Statement, literal
from chat.protocol.states import Status

# For SET. Parameters: owner, and lease (an interval).
CLAIM_ASSIGNMENTS: Final = f"""status = {literal(Status.RUNNING)}, attempt = attempt + 1, owner = %(owner)s,
    beat_at = STATEMENT_TIMESTAMP(), lease_until = STATEMENT_TIMESTAMP() + %(lease)s"""
# For WHERE, together with the primary key.
IS_CLAIMABLE: Final = f"""(
    status = {literal(Status.QUEUED)} OR status = {literal(Status.RUNNING)} AND lease_until < STATEMENT_TIMESTAMP()
)"""


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
