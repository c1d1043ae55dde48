"""The lease of a leader: one statement takes it, renews it, or changes nothing. Times are the database's."""

from typing import Final, NamedTuple

from chat.infrastructure.liveness import LOCK_IS_HELD
from chat.models.sql.statements import Statement


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
