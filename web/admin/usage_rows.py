"""Aggregates usage since a time by day and model, by model and by day, in one pass over the runs that ended since."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Final, NamedTuple

from chat.models.sql.statements import Statement


class UsageRow(NamedTuple):
    """day, model: None in a row over all days or models. p50, p95: milliseconds to the first token. cost: None if unknown."""

    day: date | None
    model: str | None
    runs: int
    failed: int
    stopped: int
    prompt: int
    cached: int
    completion: int
    cost: Decimal | None
    p50: float | None
    p95: float | None


class FailureRow(NamedTuple):
    code: str
    model: str
    runs: int


# Imported runs were not executed by this installation. Days are UTC.
# Parameters: since. Plan: run_by_end.
_USED: Final = Statement(
    """
    SELECT (ended_at AT TIME ZONE 'UTC')::date AS day, model, count(*),
        count(*) FILTER (WHERE status = 'failed'), count(*) FILTER (WHERE status = 'stopped'),
        COALESCE(sum(prompt_tokens), 0), COALESCE(sum(cached_tokens), 0), COALESCE(sum(completion_tokens), 0),
        sum(cost),
        percentile_cont(0.5) WITHIN GROUP (ORDER BY time_to_first_token_ms),
        percentile_cont(0.95) WITHIN GROUP (ORDER BY time_to_first_token_ms)
    FROM chat_run WHERE ended_at >= %(since)s AND NOT is_imported
    GROUP BY GROUPING SETS ((day, model), (model), (day)) ORDER BY day, model
    """,
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
    """by_day_and_model, by_day: oldest first. by_model: most runs first. failures: (code, model, runs)."""

    by_day_and_model: Sequence[UsageRow]
    by_model: Sequence[UsageRow]
    by_day: Sequence[UsageRow]
    failures: Sequence[FailureRow]


def load_usage(since: datetime) -> UsageReport:
    rows = _USED.all(since=since)
    by_model = [row for row in rows if row.day is None]
    return UsageReport(
        [row for row in rows if row.day and row.model is not None],
        sorted(by_model, key=lambda row: (-row.runs, row.model)),
        [row for row in rows if row.model is None],
        _FAILED.all(since=since),
    )
