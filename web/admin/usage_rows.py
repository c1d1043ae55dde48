"""Usage since a time, aggregated by day, model and purpose.
One pass reads the runs that ended since then, and the requests for titles and summaries.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Final, NamedTuple

from chat.models.sql.statements import Statement, literals
from chat.protocol.states import LIVE
from web.admin.failure_texts import words_of
from web.admin.run_links import counted_runs_url


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
