"""The calls of tools since a time, aggregated by tool: their number, outcomes and durations."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from chat.models.sql.statements import Statement


class ToolRow(NamedTuple):
    """The calls of one tool. unknown: stopped or lost calls. refused: refused by their users.
    p50, p95: milliseconds of the calls that ran; None if none did.
    """

    name: str
    calls: int
    failed: int
    unknown: int
    refused: int
    p50: float | None
    p95: float | None


# Calls of imported chats were not made by this installation.
# Parameters: since. Plan: tool_call_by_age.
_CALLED: Final = Statement(
    """
    SELECT name, count(*), count(*) FILTER (WHERE called.status = 'failed'), count(*) FILTER (WHERE called.status = 'unknown'),
        count(*) FILTER (WHERE called.status = 'refused'),
        percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ms), percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_ms)
    FROM chat_toolcall called JOIN chat_run ON chat_run.id = called.run_id AND NOT chat_run.is_imported
    WHERE called.created_at >= %(since)s
    GROUP BY name ORDER BY count(*) DESC, name LIMIT 50
    """,
    ToolRow,
)


def load_tool_rows(since: datetime) -> Sequence[ToolRow]:
    """Return the 50 tools with the most calls."""
    return _CALLED.all(since=since)
