"""The use of a login, and the buckets of the login limits: one atomic statement each, since logins of one name run side by side.

A bucket is one time, `free_at`: when all that was spent from it has come back. Times are the database's.
"""

from typing import Final, NamedTuple

from chat.models.sql.statements import Statement


class SpentRow(NamedTuple):
    key: str


class WaitRow(NamedTuple):
    wait_s: float


# Returns a row if the bucket had room. Parameters: key, pause (an interval), burst.
SPEND: Final = Statement(
    """
    INSERT INTO chat_loginlimit AS bucket (key, free_at)
    VALUES (%(key)s, STATEMENT_TIMESTAMP() + %(pause)s::interval)
    ON CONFLICT (key) DO UPDATE
    SET free_at = GREATEST(bucket.free_at, STATEMENT_TIMESTAMP()) + %(pause)s::interval
    WHERE bucket.free_at <= STATEMENT_TIMESTAMP() + %(pause)s::interval * (%(burst)s::int - 1)
    RETURNING bucket.key
    """,
    SpentRow,
)
# Seconds until the bucket has room again; negative if it has. Parameters as for SPEND.
WAIT: Final = Statement(
    """
    SELECT EXTRACT(EPOCH FROM free_at - STATEMENT_TIMESTAMP() - %(pause)s::interval * (%(burst)s::int - 1))::float
    FROM chat_loginlimit WHERE key = %(key)s
    """,
    WaitRow,
)
# Removes up to a hundred buckets that are full again. It skips locked ones: it waits for no login.
PURGE: Final = Statement(
    """
    DELETE FROM chat_loginlimit WHERE key IN (
        SELECT key FROM chat_loginlimit WHERE free_at < STATEMENT_TIMESTAMP() LIMIT 100 FOR UPDATE SKIP LOCKED
    ) RETURNING key
    """,
    SpentRow,
)


class UsedRow(NamedTuple):
    id: int


# Adds the row of a login, or writes when it was last used if that is longer ago than the pause. Writes nothing for a
# session that has ended or an account that is closed. Parameters: session, user, user_agent, language (empty: the
# former one stays), pause (an interval). Plan: primary keys, and the unique index of session_id.
USE: Final = Statement(
    """
    INSERT INTO chat_login AS login (session_id, user_id, user_agent, language, created_at, used_at)
    SELECT opened.session_key, account.id, %(user_agent)s, %(language)s, STATEMENT_TIMESTAMP(), STATEMENT_TIMESTAMP()
    FROM django_session AS opened JOIN auth_user AS account ON account.id = %(user)s
    WHERE opened.session_key = %(session)s AND account.is_active
    ON CONFLICT (session_id) DO UPDATE SET used_at = EXCLUDED.used_at, user_agent = EXCLUDED.user_agent,
        language = COALESCE(NULLIF(EXCLUDED.language, ''), login.language)
    WHERE login.used_at <= EXCLUDED.used_at - %(pause)s::interval
    RETURNING id
    """,
    UsedRow,
)
