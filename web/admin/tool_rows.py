"""The calls of tools since a time, aggregated by tool or by MCP server: their number, outcomes and durations."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final, NamedTuple

from chat.models.sql.statements import Statement
from chat.protocol.server_tool_names import SEPARATOR


class ToolRow(NamedTuple):
    """The calls of one tool, or of all of a server. name: of the tool or server.

    unknown: stopped or lost calls.  refused: refused by their users.
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
# Parameters: since, prefix (of names; empty: all), by_server, separator. Plan: tool_call_by_age.
_CALLED: Final = Statement(
    """
    SELECT CASE WHEN %(by_server)s THEN split_part(name, %(separator)s, 1) ELSE name END AS called_name, count(*), count(*) FILTER (WHERE called.status = 'failed'), count(*) FILTER (WHERE called.status = 'unknown'),
        count(*) FILTER (WHERE called.status = 'refused'),
        percentile_cont(0.5) WITHIN GROUP (ORDER BY duration_ms), percentile_cont(0.95) WITHIN GROUP (ORDER BY duration_ms)
    FROM chat_toolcall called JOIN chat_run ON chat_run.id = called.run_id AND NOT chat_run.is_imported
    WHERE called.created_at >= %(since)s AND starts_with(name, %(prefix)s)
        AND (NOT %(by_server)s OR split_part(name, %(separator)s, 1) IN (SELECT name FROM chat_mcpserver))
    GROUP BY called_name ORDER BY count(*) DESC, called_name LIMIT 50
    """,
    ToolRow,
)


def load_tool_rows(since: datetime, server: str = "") -> Sequence[ToolRow]:
    """Return the 50 tools with the most calls. server: the name of the MCP server whose tools are meant."""
    return _CALLED.all(
        since=since, prefix=server and f"{server}{SEPARATOR}", by_server=False, separator=SEPARATOR
    )


def load_server_rows(since: datetime) -> Sequence[ToolRow]:
    """Return the 50 MCP servers with the most calls."""
    return _CALLED.all(since=since, prefix="", by_server=True, separator=SEPARATOR)
