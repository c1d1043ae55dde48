"""Usage since a time, by user and by group: of the same runs and requests as usage_rows.py."""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Final, NamedTuple

from chat.models.sql.statements import Statement
from web.admin.usage_rows import IS_COUNTED

# Users or groups that the page shows; the file has MOST.
SHOWN: Final = 50
MOST: Final = 10_000


class PersonRow(NamedTuple):
    """The usage of a user or a group. name: None for users without a group. requests: for titles and the like.
    cost: None if unknown.
    """

    name: str | None
    runs: int
    failed: int
    requests: int
    prompt: int
    completion: int
    cost: Decimal | None


_BY_OWNER: Final = f"""
    WITH used AS (
        SELECT turn.session_id, TRUE AS is_run, run.status = 'failed' AS has_failed, run.prompt_tokens, run.completion_tokens, run.cost
        FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
        WHERE {IS_COUNTED}
        UNION ALL
        SELECT session_id, FALSE, FALSE, prompt_tokens, completion_tokens, cost FROM chat_siderequest WHERE sent_at >= %(since)s
    ), by_owner AS (
        SELECT session.owner_id, count(*) FILTER (WHERE is_run) AS runs, count(*) FILTER (WHERE has_failed) AS failed,
            count(*) FILTER (WHERE NOT is_run) AS requests, COALESCE(sum(prompt_tokens), 0) AS prompt,
            COALESCE(sum(completion_tokens), 0) AS completion, sum(cost) AS cost
        FROM used JOIN chat_session AS session ON session.id = used.session_id GROUP BY session.owner_id
    )
    """  # noqa: S608  constants alone
_ORDER: Final = "ORDER BY cost DESC NULLS LAST, prompt + completion DESC, name LIMIT %(most)s"
# Parameters: since, most. Plan: that of IS_COUNTED, side_request_by_age; primary keys of turns and sessions.
_USERS: Final = Statement(
    f"""
    {_BY_OWNER}
    SELECT username AS name, runs, failed, requests, prompt, completion, cost
    FROM by_owner JOIN auth_user ON auth_user.id = owner_id {_ORDER}
    """,  # noqa: S608  constants alone
    PersonRow,
)
# A user counts in each of their groups. Parameters and plan: as above.
_GROUPS: Final = Statement(
    f"""
    {_BY_OWNER}, by_group AS (
        SELECT auth_group.name, sum(runs)::bigint AS runs, sum(failed)::bigint AS failed, sum(requests)::bigint AS requests,
            sum(prompt)::bigint AS prompt, sum(completion)::bigint AS completion, sum(cost) AS cost
        FROM by_owner LEFT JOIN auth_user_groups AS membership ON membership.user_id = owner_id
            LEFT JOIN auth_group ON auth_group.id = membership.group_id GROUP BY auth_group.name
    )
    SELECT * FROM by_group {_ORDER}
    """,  # noqa: S608  constants alone
    PersonRow,
)


def load_users(since: datetime, most: int = SHOWN) -> Sequence[PersonRow]:
    """Return the users with the highest cost, or the most tokens."""
    return _USERS.all(since=since, most=most)


def load_groups(since: datetime, most: int = SHOWN) -> Sequence[PersonRow]:
    """Return the groups, and the users without one as a row; empty if there is no group."""
    rows = _GROUPS.all(since=since, most=most)
    return rows if any(row.name is not None for row in rows) else []
