"""The use of API tokens: when they were used last, and what the answers have used that were asked for with them."""

from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.statements import Statement

TODAY: Final = "(STATEMENT_TIMESTAMP() AT TIME ZONE 'UTC')::date"


class NotedToken(NamedTuple):
    token_id: str


class LimitedToken(NamedTuple):
    """tokens, cost: used today.  most_tokens, most_cost: None: no limit."""

    resets_at: datetime
    tokens: int
    cost: Decimal
    most_tokens: int | None
    most_cost: Decimal | None


class UseOfToken(NamedTuple):
    token: UUID


# Parameters: digest. A token that is deleted meanwhile is not noted. Plan: primary keys.
NOTE: Final = Statement(
    """
    INSERT INTO chat_tokenscope (token_id, scope, last_used_at)
    SELECT token.digest, 'write', STATEMENT_TIMESTAMP() FROM (
        SELECT digest FROM knox_authtoken WHERE digest = %(digest)s FOR KEY SHARE
    ) AS token
    ON CONFLICT (token_id) DO UPDATE SET last_used_at = EXCLUDED.last_used_at
    RETURNING token_id
    """,
    NotedToken,
)


# A condition on the key of a token, which begins with the id {token} without hyphens. Not LIKE: a plan that is kept
# would not use the index.
def _is_token(key: str, token: str) -> str:
    start = f"replace({token}::text, '-', '')"
    return f"{key} >= {start} AND {key} < {start} || 'g'"


# No row: the token has no limit, or is gone. Parameters: token. Plan: primary key, use_by_day_and_token.
READ_LIMITED: Final = Statement(
    f"""
    SELECT ({TODAY} + 1)::timestamp AT TIME ZONE 'UTC' AS resets_at,
        COALESCE(used.tokens, 0) AS tokens, COALESCE(used.cost, 0) AS cost,
        allowed.tokens_per_day AS most_tokens, allowed.cost_per_day AS most_cost
    FROM chat_tokenscope AS allowed CROSS JOIN LATERAL (
        SELECT sum(tokens) AS tokens, sum(cost) AS cost FROM chat_tokenuse
        WHERE day = {TODAY} AND token = %(token)s::uuid
    ) AS used
    WHERE {_is_token("allowed.token_id", "%(token)s::uuid")}
        AND (allowed.tokens_per_day IS NOT NULL OR allowed.cost_per_day IS NOT NULL)
    """,  # noqa: S608  constants alone
    LimitedToken,
)
# A table of a WITH clause that adds the row of a table `more` to its token. The columns of `more` are in daily_use.py.
ADD_TO_TOKEN: Final = f"""of_token AS (
    INSERT INTO chat_tokenuse (token, day, runs, tokens, cost)
    SELECT more.token, {TODAY}, more.runs, more.tokens, more.cost FROM more
    WHERE more.token IS NOT NULL AND EXISTS (SELECT FROM counted)
)"""  # noqa: S608  constants alone
# Makes one row of those of a token and day, but for rows that are locked. Plan: use_by_day_and_token.
COMPACT: Final = Statement(
    f"""
    WITH removed AS (
        DELETE FROM chat_tokenuse WHERE id IN (
            SELECT used.id FROM chat_tokenuse AS used
            WHERE used.day >= {TODAY} - 1 AND EXISTS (
                SELECT FROM chat_tokenuse AS other
                WHERE other.day = used.day AND other.token = used.token AND other.id <> used.id
            )
            FOR UPDATE SKIP LOCKED
        ) RETURNING *
    )
    INSERT INTO chat_tokenuse (token, day, runs, tokens, cost)
    SELECT token, day, sum(runs), sum(tokens), sum(cost) FROM removed GROUP BY token, day RETURNING token
    """,  # noqa: S608  constants alone
    UseOfToken,
)
# Deletes the use of tokens that are gone. Plan: chat_tokenuse is read whole, primary key of knox_authtoken.
PURGE: Final = Statement(
    f"""
    DELETE FROM chat_tokenuse WHERE token IN (
        SELECT used.token FROM (SELECT DISTINCT token FROM chat_tokenuse) AS used
        WHERE NOT EXISTS (SELECT FROM knox_authtoken AS row WHERE {_is_token("row.digest", "used.token")})
    ) RETURNING token
    """,  # noqa: S608  constants alone
    UseOfToken,
)
