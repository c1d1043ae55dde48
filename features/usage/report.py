"""Usage since a time: by day, model and purpose, and by user and group.
Counted are the runs that ended since then, and the requests for titles and summaries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Final, NamedTuple

from chat.models.sql.statements import Statement, literals
from chat.protocol.states import LIVE
from web.admin.run_findings import words_of
from web.admin.run_links import counted_runs_url

# Users or groups that the page shows; the file has MOST.
SHOWN: Final = 50
MOST: Final = 10_000


class UsageRow(NamedTuple):
    """The usage of a purpose.
    day, model: None in a row over all days or models. runs: the number of runs for the purpose of answers, of requests
    for other purposes. p50, p95: milliseconds to the first token. estimated: the part of prompt and completion that no
    server reported. cost: None if unknown.
    """

    day: date | None
    model: str | None
    purpose: str
    runs: int
    failed: int
    stopped: int
    prompt: int
    cached: int
    completion: int
    estimated: int
    cost: Decimal | None
    p50: float | None
    p95: float | None


class FailureRow(NamedTuple):
    code: str
    model: str
    runs: int

    @property
    def words(self) -> str:
        return words_of(self.code)

    def url_since(self, since: datetime) -> str:
        """Return the list of these runs."""
        return counted_runs_url(since, error_code=self.code, model=self.model)


# A condition on a run: it counts. Imported runs were not executed by this installation; one that was continued after its end
# counts at the time of the continuation. Parameters: since. Plan: run_by_end and run_live.
IS_COUNTED: Final = f"""(run.ended_at >= %(since)s
    OR (run.status IN ({literals(LIVE)}) AND run.continuations > 0 AND run.queued_at >= %(since)s)
) AND NOT run.is_imported"""
# Days are UTC. Requests for titles and summaries are never
# stopped, have no first token and run no tools; a request without an answer has failed.
# Parameters: since. Plan: that of IS_COUNTED, side_request_by_age.
_USED: Final = Statement(
    f"""
    WITH used AS (
        SELECT COALESCE(ended_at, queued_at) AS at, model, 'answers' AS purpose, status = 'failed' AS has_failed, status = 'stopped' AS was_stopped,
            prompt_tokens, cached_tokens, completion_tokens, estimated_tokens, cost, time_to_first_token_ms
        FROM chat_run AS run WHERE {IS_COUNTED}
        UNION ALL
        SELECT sent_at, model, CASE purpose WHEN 'title' THEN 'titles' WHEN 'summary' THEN 'summaries' WHEN 'expansion' THEN 'expansions' ELSE 'safe_summaries' END, error_code <> '', FALSE,
            prompt_tokens, cached_tokens, completion_tokens, estimated_tokens, cost, NULL
        FROM chat_siderequest WHERE sent_at >= %(since)s
    )
    SELECT (at AT TIME ZONE 'UTC')::date AS day, model, purpose, count(*),
        count(*) FILTER (WHERE has_failed), count(*) FILTER (WHERE was_stopped),
        COALESCE(sum(prompt_tokens), 0), COALESCE(sum(cached_tokens), 0), COALESCE(sum(completion_tokens), 0),
        COALESCE(sum(estimated_tokens), 0),
        sum(cost),
        percentile_cont(0.5) WITHIN GROUP (ORDER BY time_to_first_token_ms),
        percentile_cont(0.95) WITHIN GROUP (ORDER BY time_to_first_token_ms)
    FROM used
    GROUP BY GROUPING SETS ((day, model, purpose), (model, purpose), (day, purpose)) ORDER BY day, model, purpose
    """,  # noqa: S608  constants alone
    UsageRow,
)
# Parameters: since. Plan: run_by_end or run_by_error.
_FAILED: Final = Statement(
    """
    SELECT error_code, model, count(*) FROM chat_run
    WHERE error_code <> '' AND ended_at >= %(since)s AND NOT is_imported
    GROUP BY error_code, model ORDER BY count(*) DESC, error_code, model LIMIT 50
    """,
    FailureRow,
)


@dataclass(frozen=True)
class UsageReport:
    """The usage since a time. by_day_and_model: oldest first. by_model: by purpose, then most runs first.
    by_day: answers, oldest first. failures: (code, model, runs).
    """

    by_day_and_model: Sequence[UsageRow]
    by_model: Sequence[UsageRow]
    by_day: Sequence[UsageRow]
    failures: Sequence[FailureRow]


def load_usage(since: datetime) -> UsageReport:
    rows = _USED.all(since=since)
    by_model = [row for row in rows if row.day is None]
    return UsageReport(
        [row for row in rows if row.day and row.model is not None],
        sorted(by_model, key=lambda row: (row.purpose, -row.runs, row.model)),
        [row for row in rows if row.model is None and row.purpose == "answers"],
        _FAILED.all(since=since),
    )


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
