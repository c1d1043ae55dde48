"""The use of users today (UTC, the database's clock), and the limits on it that their groups set.

One row per user and day. Statements lock the session first, then the run, then this row.
"""

from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple

from chat.models.sql.statements import Statement

TODAY: Final = "(STATEMENT_TIMESTAMP() AT TIME ZONE 'UTC')::date"


class DailyAccountRow(NamedTuple):
    """The use of today; then the limits of the most generous group: 0 means no limit, None that no group sets one.

    is_estimated: tokens that no server reported are counted too.
    """

    resets_at: datetime
    runs: int
    tokens: int
    cost: Decimal
    is_superuser: bool
    most_runs: int | None
    most_tokens: int | None
    most_cost: Decimal | None
    is_estimated: bool


class CountedUser(NamedTuple):
    user_id: int


def _most(column: str) -> str:
    return f"CASE WHEN bool_or({column} = 0) THEN 0 ELSE max({column}) END"


# A query for other statements: the columns of DailyAccountRow. Parameters: owner (a user).
# Plan: primary key, one_daily_use_per_user_and_day, auth_user_groups by user, chat_grouplimits by group.
DAILY_ACCOUNT: Final = f"""
    SELECT ({TODAY} + 1)::timestamp AT TIME ZONE 'UTC' AS resets_at,
        COALESCE(used.runs, 0) AS runs, COALESCE(used.tokens, 0) AS tokens, COALESCE(used.cost, 0) AS cost,
        account.is_superuser, grouped.most_runs, grouped.most_tokens, grouped.most_cost,
        COALESCE(used.is_estimated, FALSE) AS is_estimated
    FROM auth_user AS account
    LEFT JOIN chat_dailyuse AS used ON used.user_id = account.id AND used.day = {TODAY}
    CROSS JOIN LATERAL (
        SELECT {_most("runs_per_day")} AS most_runs, {_most("tokens_per_day")} AS most_tokens,
            {_most("cost_per_day")} AS most_cost
        FROM auth_user_groups AS member JOIN chat_grouplimits AS allowed ON allowed.group_id = member.group_id
        WHERE member.user_id = account.id
    ) AS grouped
    WHERE account.id = %(owner)s
"""  # noqa: S608  constants alone
READ_ACCOUNT: Final = Statement(DAILY_ACCOUNT, DailyAccountRow)


def increment_runs_sql(sessions: str) -> str:
    """Return SQL that counts new runs of the owner of the one session in this table, unless they exceed the limit.

    If they do, the SQL returns no row. Parameters: new_runs, most_runs (NULL: no limit).
    """
    return f"""
        INSERT INTO chat_dailyuse AS used (user_id, day, runs, tokens, cost)
        SELECT owner_id, {TODAY}, %(new_runs)s::int, 0, 0 FROM {sessions}
        WHERE %(most_runs)s::bigint IS NULL OR %(new_runs)s::int <= %(most_runs)s::bigint
        ON CONFLICT (user_id, day) DO UPDATE SET runs = used.runs + EXCLUDED.runs
        WHERE %(most_runs)s::bigint IS NULL OR used.runs + EXCLUDED.runs <= %(most_runs)s::bigint
        RETURNING user_id
    """  # noqa: S608  names of tables alone


_ADDED: Final = """ON CONFLICT (user_id, day) DO UPDATE
        SET tokens = used.tokens + EXCLUDED.tokens, cost = used.cost + EXCLUDED.cost,
            is_estimated = used.is_estimated OR EXCLUDED.is_estimated"""


def add_use_sql(runs: str) -> str:
    """Return SQL that adds the use of the runs in this table to the day of their owners.
    The columns of the table: turn_id, tokens, cost, is_estimated.
    """
    return f"""
        INSERT INTO chat_dailyuse AS used (user_id, day, runs, tokens, cost, is_estimated)
        SELECT session.owner_id, {TODAY}, 0, GREATEST(0, more.tokens), GREATEST(0, more.cost), more.is_estimated
        FROM {runs} AS more JOIN chat_turn AS turn ON turn.id = more.turn_id
        JOIN chat_session AS session ON session.id = turn.session_id
        WHERE more.tokens > 0 OR more.cost > 0 OR more.is_estimated
        {_ADDED}
    """  # noqa: S608  names of tables alone


# Parameters: session, new_runs, most_runs. Plan: primary key, one_daily_use_per_user_and_day.
COUNT_RUNS: Final = Statement(
    increment_runs_sql("(SELECT owner_id FROM chat_session WHERE id = %(session)s) AS session"), CountedUser
)
# Adds the use of a request beside the runs. Parameters: session, tokens, cost, is_estimated. Plan: as COUNT_RUNS.
ADD_USE: Final = Statement(
    f"""
    INSERT INTO chat_dailyuse AS used (user_id, day, runs, tokens, cost, is_estimated)
    SELECT owner_id, {TODAY}, 0, %(tokens)s::bigint, %(cost)s::numeric, %(is_estimated)s FROM chat_session WHERE id = %(session)s
    {_ADDED}
    RETURNING user_id
    """,  # noqa: S608  constants alone
    CountedUser,
)
