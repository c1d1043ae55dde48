"""SQL fragments shared by the claims of all leased tables (chat/models/lease.py); times are the database's."""

from typing import Final

from chat.models.sql.statements import literal
from chat.protocol.states import Status

# For SET. Parameters: owner, and lease (an interval).
CLAIM_ASSIGNMENTS: Final = f"""status = {literal(Status.RUNNING)}, attempt = attempt + 1, owner = %(owner)s,
    beat_at = STATEMENT_TIMESTAMP(), lease_until = STATEMENT_TIMESTAMP() + %(lease)s"""
# For WHERE, together with the primary key.
IS_CLAIMABLE: Final = f"""(
    status = {literal(Status.QUEUED)} OR status = {literal(Status.RUNNING)} AND lease_until < STATEMENT_TIMESTAMP()
)"""
