"""Statements about compressions."""

from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.lease import CLAIM_ASSIGNMENTS, IS_CLAIMABLE
from chat.models.sql.statements import Statement


class ClaimedCompression(NamedTuple):
    id: UUID


# Parameters: compression, owner, lease (an interval). Plan: primary key.
CLAIM: Final = Statement(
    f"""
    UPDATE chat_compression SET {CLAIM_ASSIGNMENTS} WHERE id = %(compression)s AND {IS_CLAIMABLE} RETURNING id
    """,  # noqa: S608  constants alone
    ClaimedCompression,
)
