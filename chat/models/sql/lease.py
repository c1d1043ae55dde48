"""SQL of leases: fragments that the claims of leased tables share, the claim of a compression, and the lease of a leader."""

from typing import Final, NamedTuple
from uuid import UUID

from chat.infrastructure.liveness import LOCK_IS_HELD
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


class HeldRow(NamedTuple):
    owner: int


# Returns a row if `owner` holds the lease now. A free lock proves that the holder is dead; a lock that is held proves
# nothing: Postgres keeps it for as long as it does not notice that the holder's host is gone. Parameters: role, owner,
# lease (an interval). Plan: primary key; pg_locks is read whole.
HOLD: Final = Statement(
    f"""
    INSERT INTO chat_leadership AS held (role, owner, lease_until)
    VALUES (%(role)s, %(owner)s, STATEMENT_TIMESTAMP() + %(lease)s::interval)
    ON CONFLICT (role) DO UPDATE SET owner = excluded.owner, lease_until = excluded.lease_until
    WHERE held.owner = excluded.owner OR held.lease_until < STATEMENT_TIMESTAMP()
        OR NOT {LOCK_IS_HELD.format(owner="held.owner")}
    RETURNING held.owner
    """,  # noqa: S608  constants
    HeldRow,
)
