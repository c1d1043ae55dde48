"""The statement that records the use of a login: one of its own, since it runs beside requests of the same browser."""

from typing import Final, NamedTuple

from chat.models.sql.statements import Statement


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
