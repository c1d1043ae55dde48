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


# Parameters: digest, before (a time: later uses are noted already). A token that is deleted meanwhile is not noted. What
# deletes it locks the scope first and the token then, so the token is locked only if there is no scope.
# Plan: primary keys.
NOTE: Final = Statement(
    """
    WITH noted AS (
        UPDATE chat_tokenscope SET last_used_at = STATEMENT_TIMESTAMP()
        WHERE token_id = %(digest)s AND (last_used_at IS NULL OR last_used_at < %(before)s) RETURNING token_id
    )
    INSERT INTO chat_tokenscope (token_id, scope, last_used_at)
    SELECT token.digest, 'write', STATEMENT_TIMESTAMP() FROM (
        SELECT digest FROM knox_authtoken
        WHERE digest = %(digest)s AND NOT EXISTS (SELECT FROM chat_tokenscope WHERE token_id = %(digest)s)
        FOR KEY SHARE
    ) AS token
    ON CONFLICT (token_id) DO NOTHING RETURNING token_id
    """,
    NotedToken,
)


def _is_token(key: str, token: str) -> str:
    """Return a condition on the key of a token, which begins with the id `token` without hyphens.

    Byte by byte, as Django's index for LIKE: collations may sort letters in other orders. With LIKE itself, a plan that is
    kept would not use the index.
    """
    start = f"replace({token}::text, '-', '')"
    return f"{key} ~>=~ {start} AND {key} ~<~ ({start} || 'g')"


# No row: the token has no limit, or is gone. Parameters: token. Plan: index of the key for LIKE, use_by_token_and_day.
READ_LIMITED: Final = Statement(
    f"""
    SELECT ({TODAY} + 1)::timestamp AT TIME ZONE 'UTC' AS resets_at,
        COALESCE(used.tokens, 0) AS tokens, COALESCE(used.cost, 0) AS cost,
        allowed.tokens_per_day AS most_tokens, allowed.cost_per_day AS most_cost
    FROM chat_tokenscope AS allowed CROSS JOIN LATERAL (
        SELECT sum(tokens) AS tokens, sum(cost) AS cost FROM chat_tokenuse
        WHERE token = %(token)s::uuid AND day = {TODAY}
    ) AS used
    WHERE {_is_token("allowed.token_id", "%(token)s::uuid")}
        AND (allowed.tokens_per_day IS NOT NULL OR allowed.cost_per_day IS NOT NULL)
    """,  # noqa: S608  constants alone
    LimitedToken,
)
# A table of a WITH clause that adds the row of a table `more` to its token. The columns of `more` are in usage.py.
ADD_TO_TOKEN: Final = f"""of_token AS (
    INSERT INTO chat_tokenuse (token, day, runs, tokens, cost)
    SELECT more.token, {TODAY}, more.runs, more.tokens, more.cost FROM more
    WHERE more.token IS NOT NULL AND EXISTS (SELECT FROM counted)
)"""  # noqa: S608  constants alone
# Makes one row of those of a token and day, but for rows that are locked, and for days long past.
# Plan: chat_tokenuse is read whole, use_by_token_and_day.
COMPACT: Final = Statement(
    f"""
    WITH removed AS (
        DELETE FROM chat_tokenuse WHERE id IN (
            SELECT used.id FROM chat_tokenuse AS used
            WHERE used.day > {TODAY} - 30 AND EXISTS (
                SELECT FROM chat_tokenuse AS other
                WHERE other.token = used.token AND other.day = used.day AND other.id <> used.id
            )
            FOR UPDATE SKIP LOCKED
        ) RETURNING *
    )
    INSERT INTO chat_tokenuse (token, day, runs, tokens, cost)
    SELECT token, day, sum(runs), sum(tokens), sum(cost) FROM removed GROUP BY token, day RETURNING token
    """,  # noqa: S608  constants alone
    UseOfToken,
)
# Deletes the use of tokens that are gone. Plan: chat_tokenuse is read whole, index of knox_authtoken's key for LIKE.
PURGE: Final = Statement(
    f"""
    DELETE FROM chat_tokenuse WHERE token IN (
        SELECT used.token FROM (SELECT DISTINCT token FROM chat_tokenuse) AS used
        WHERE NOT EXISTS (SELECT FROM knox_authtoken AS row WHERE {_is_token("row.digest", "used.token")})
    ) RETURNING token
    """,  # noqa: S608  constants alone
    UseOfToken,
)
