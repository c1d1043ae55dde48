"""The use of users: today (UTC, the database's clock), stored bytes, and the limits that staff set.

The use of users is one row per user and day, and what the sweeper adds to it within a second. Statements lock the session first, then the
run, then this row.

Counted as stored bytes are the texts of messages, reasoning, tool calls, citations, feedback and errors as UTF-8, JSON as it is stored,
and ROW_BYTES for each message and tool call, so that many short ones have a size too. Postgres knows the length of a
long text without reading it.
"""

from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple

from chat.models.sql.statements import Statement
from chat.models.sql.token_use import ADD_TO_TOKEN, TODAY


class DailyAccountRow(NamedTuple):
    """The use of today; then the limits of the most generous group, else the default ones: 0 and None mean no limit.

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
# Plan: primary key, one_daily_use_per_user_and_day, auth_user_groups by user, chat_grouplimits by group;
# chat_defaultlimits has at most one row.
DAILY_ACCOUNT: Final = f"""
    SELECT ({TODAY} + 1)::timestamp AT TIME ZONE 'UTC' AS resets_at,
        COALESCE(used.runs, 0) AS runs, COALESCE(used.tokens, 0) AS tokens, COALESCE(used.cost, 0) AS cost,
        account.is_superuser, COALESCE(grouped.most_runs, everybody.runs_per_day) AS most_runs,
        COALESCE(grouped.most_tokens, everybody.tokens_per_day) AS most_tokens,
        COALESCE(grouped.most_cost, everybody.cost_per_day) AS most_cost,
        COALESCE(used.is_estimated, FALSE) AS is_estimated
    FROM auth_user AS account
    CROSS JOIN LATERAL (
        SELECT sum(part.runs) AS runs, sum(part.tokens) AS tokens, sum(part.cost) AS cost,
            bool_or(part.is_estimated) AS is_estimated
        FROM (
            SELECT runs, tokens, cost, is_estimated FROM chat_dailyuse WHERE user_id = account.id AND day = {TODAY}
            UNION ALL
            SELECT runs, tokens, cost, is_estimated FROM chat_pendinguse WHERE user_id = account.id AND day = {TODAY}
        ) AS part
    ) AS used
    CROSS JOIN LATERAL (
        SELECT {_most("runs_per_day")} AS most_runs, {_most("tokens_per_day")} AS most_tokens,
            {_most("cost_per_day")} AS most_cost
        FROM auth_user_groups AS member JOIN chat_grouplimits AS allowed ON allowed.group_id = member.group_id
        WHERE member.user_id = account.id
    ) AS grouped
    LEFT JOIN chat_defaultlimits AS everybody ON TRUE
    WHERE account.id = %(owner)s
"""  # noqa: S608  constants alone
READ_ACCOUNT: Final = Statement(DAILY_ACCOUNT, DailyAccountRow)

# Tables of a WITH clause that add the row of a table `more` to its user's day, and to its API token. The columns of `more`:
# user_id, token (NULL: none), runs, tokens, cost, is_estimated, most_runs (NULL: no limit). The table `counted` has no row if
# the runs would exceed most_runs, or if `more` has none.
# Turns of one user that start and end side by side do not wait for each other: where another statement has locked the row
# of the day, the use is added by the sweeper (ADD_PENDING). Only a user with a limit on runs waits.
_COUNT_MORE: Final = f"""free_day AS (
    SELECT used.user_id FROM chat_dailyuse AS used JOIN more ON more.user_id = used.user_id
    WHERE used.day = {TODAY} FOR NO KEY UPDATE OF used SKIP LOCKED
), pending AS (
    INSERT INTO chat_pendinguse (user_id, day, runs, tokens, cost, is_estimated)
    SELECT more.user_id, {TODAY}, more.runs, more.tokens, more.cost, more.is_estimated FROM more
    WHERE more.most_runs IS NULL AND NOT EXISTS (SELECT FROM free_day)
        AND EXISTS (SELECT FROM chat_dailyuse AS used WHERE used.user_id = more.user_id AND used.day = {TODAY})
    RETURNING user_id
), added AS (
    INSERT INTO chat_dailyuse AS used (user_id, day, runs, tokens, cost, is_estimated)
    SELECT more.user_id, {TODAY}, more.runs, more.tokens, more.cost, more.is_estimated FROM more
    WHERE NOT EXISTS (SELECT FROM pending) AND (more.most_runs IS NULL OR more.runs <= more.most_runs)
    ON CONFLICT (user_id, day) DO UPDATE SET
        runs = used.runs + EXCLUDED.runs, tokens = used.tokens + EXCLUDED.tokens, cost = used.cost + EXCLUDED.cost,
        is_estimated = used.is_estimated OR EXCLUDED.is_estimated
    WHERE (SELECT most_runs FROM more) IS NULL OR used.runs + EXCLUDED.runs <= (SELECT most_runs FROM more)
    RETURNING user_id
), counted AS (SELECT user_id FROM pending UNION ALL SELECT user_id FROM added), {ADD_TO_TOKEN}"""  # noqa: S608  constants alone


def count_runs_sql(sessions: str) -> str:
    """Return the tables that count new runs of the owner of the one session in this table: see _COUNT_MORE.

    Parameters: new_runs, most_runs (NULL: no limit), token (NULL: none).
    """
    return f"""more AS (
        SELECT owner_id AS user_id, %(token)s::uuid AS token, %(new_runs)s::int AS runs, 0::bigint AS tokens, 0::numeric AS cost,
            FALSE AS is_estimated, %(most_runs)s::bigint AS most_runs FROM {sessions}
    ), {_COUNT_MORE}"""  # noqa: S608  names of tables alone


def add_use_sql(runs: str) -> str:
    """Return the tables that add the use of the run in this table to the day of its owner: see _COUNT_MORE.
    The columns of the table: turn_id, tokens, cost, is_estimated.
    """
    return f"""more AS (
        SELECT session.owner_id AS user_id, turn.api_token AS token, 0 AS runs, GREATEST(0, run.tokens) AS tokens, GREATEST(0, run.cost) AS cost,
            run.is_estimated, NULL::bigint AS most_runs
        FROM {runs} AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
        JOIN chat_session AS session ON session.id = turn.session_id
        WHERE run.tokens > 0 OR run.cost > 0 OR run.is_estimated
    ), {_COUNT_MORE}"""  # noqa: S608  names of tables alone


# Parameters: session, new_runs, most_runs, token. Plan: primary key, one_daily_use_per_user_and_day.
COUNT_RUNS: Final = Statement(
    f"""
    WITH session AS (SELECT owner_id FROM chat_session WHERE id = %(session)s), {count_runs_sql("session")}
    SELECT user_id FROM counted
    """,  # noqa: S608  constants alone
    CountedUser,
)
# Adds the use of a request beside the runs. Parameters: session, run (whose API token it counts for, or NULL), tokens, cost,
# is_estimated. Plan: as COUNT_RUNS.
ADD_USE: Final = Statement(
    f"""
    WITH more AS (
        SELECT owner_id AS user_id, (
                SELECT turn.api_token FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
                WHERE run.id = %(run)s
            ) AS token, 0 AS runs, %(tokens)s::bigint AS tokens, %(cost)s::numeric AS cost,
            %(is_estimated)s::boolean AS is_estimated, NULL::bigint AS most_runs
        FROM chat_session WHERE id = %(session)s
    ), {_COUNT_MORE}
    SELECT user_id FROM counted
    """,  # noqa: S608  constants alone
    CountedUser,
)
# Adds to the days what has waited, but for days that are locked. Without a row of its day it is deleted: its user was.
# Plan: chat_pendinguse is read whole, one_daily_use_per_user_and_day.
ADD_PENDING: Final = Statement(
    """
    WITH due AS (
        SELECT used.user_id, used.day FROM chat_dailyuse AS used
        WHERE EXISTS (SELECT FROM chat_pendinguse AS more WHERE more.user_id = used.user_id AND more.day = used.day)
        FOR NO KEY UPDATE OF used SKIP LOCKED
    ), removed AS (
        DELETE FROM chat_pendinguse AS more
        WHERE EXISTS (SELECT FROM due WHERE due.user_id = more.user_id AND due.day = more.day) OR NOT EXISTS (
            SELECT FROM chat_dailyuse AS used WHERE used.user_id = more.user_id AND used.day = more.day
        ) RETURNING *
    )
    UPDATE chat_dailyuse AS used
    SET runs = used.runs + more.runs, tokens = used.tokens + more.tokens, cost = used.cost + more.cost,
        is_estimated = used.is_estimated OR more.is_estimated
    FROM (
        SELECT user_id, day, sum(runs) AS runs, sum(tokens) AS tokens, sum(cost) AS cost,
            bool_or(is_estimated) AS is_estimated
        FROM removed GROUP BY user_id, day
    ) AS more
    WHERE used.user_id = more.user_id AND used.day = more.day
    RETURNING used.user_id
    """,
    CountedUser,
)


# The approximate size of a message or a call beside its texts.
ROW_BYTES: Final = 512


class MeasuredSession(NamedTuple):
    owner_id: int


class StoredSum(NamedTuple):
    total: int


# Parameters: session. Changes nothing if the session has an event meanwhile: what that stored may not be in the sum.
# Plan: message_session_id, indexes of foreign keys.
MEASURE: Final = Statement(
    f"""
    WITH seen AS (
        SELECT id, latest_event FROM chat_session WHERE id = %(session)s
    ), message AS (
        SELECT id, octet_length(text) + octet_length(reasoning) + (CASE role WHEN 'root' THEN 0 ELSE {ROW_BYTES} END) AS bytes
        FROM chat_chatmessage WHERE session_id = %(session)s
    ), run AS (
        SELECT run.id, octet_length(run.error_message) AS bytes
        FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id WHERE turn.session_id = %(session)s
    ), part AS (
        SELECT bytes FROM message
        UNION ALL SELECT bytes FROM run
        UNION ALL SELECT octet_length(additional_context) + COALESCE(pg_column_size(caller_tools), 0) FROM chat_turn WHERE session_id = %(session)s
        UNION ALL SELECT {ROW_BYTES} + octet_length(response) + octet_length(report) + octet_length(report_reasoning)
            + octet_length(text_before) + octet_length(reasoning) + pg_column_size(arguments) + pg_column_size(documents)
            + COALESCE(pg_column_size(structured), 0) + COALESCE(pg_column_size(sent_back), 0)
            FROM chat_toolcall WHERE run_id IN (SELECT id FROM run)
        UNION ALL SELECT octet_length(document_id) + octet_length(title) + COALESCE(octet_length(url), 0)
            FROM chat_citeddocument WHERE message_id IN (SELECT id FROM message)
        UNION ALL SELECT octet_length(text) FROM chat_promptblock WHERE message_id IN (SELECT id FROM message)
        UNION ALL SELECT octet_length(text) FROM chat_feedback WHERE message_id IN (SELECT id FROM message)
    )
    UPDATE chat_session AS session
    SET stored_bytes = (SELECT COALESCE(SUM(bytes), 0) FROM part), is_measured = TRUE
    FROM seen WHERE session.id = seen.id AND session.latest_event = seen.latest_event
    RETURNING session.owner_id
    """,  # noqa: S608  constants alone
    MeasuredSession,
)
# The size of some files: contents and texts, and the contents of versions of documents that are served while another
# version is read.
_OF_FILES: Final = """(
        SELECT COALESCE(SUM(file.size_bytes + octet_length(file.text) + COALESCE(served.size_bytes, 0)), 0)
        FROM knowledge_file AS file LEFT JOIN knowledge_servedversion AS served ON served.document_id = file.id
        WHERE file.{condition}
    )"""
# Parameters: user. Plan: session_by_owner, file_by_owner.
SUM: Final = Statement(
    f"""
    SELECT (
        (SELECT COALESCE(SUM(stored_bytes), 0) FROM chat_session WHERE owner_id = %(user)s)
        + {_OF_FILES.format(condition="owner_id = %(user)s")}
    )::bigint
    """,  # noqa: S608  constants alone
    StoredSum,
)
# Parameters: base. Plan: the index of the foreign key.
SUM_OF_BASE: Final = Statement(
    f"SELECT {_OF_FILES.format(condition='knowledge_base_id = %(base)s')}::bigint",
    StoredSum,
)
