"""The statement that stores the requests which runs sent to their models."""

from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.statements import Statement


class StoredRun(NamedTuple):
    id: UUID


# One value of each array parameter for each request; returns the runs that exist. The runs are locked, since deleting
# one at this moment would fail the insertion. Repeated after a lost connection, it finds the rows stored.
# Plan: primary keys of chat_run and chat_toolcall, one_sent_request_per_cycle.
STORE: Final = Statement(
    """
    WITH held AS (
        SELECT id FROM chat_run WHERE id = ANY(%(run)s::uuid[]) ORDER BY id FOR KEY SHARE
    ), kept AS (
        INSERT INTO chat_sentrequest
            (run_id, attempt, cycle, tool_call_id, common, messages, tokens, prefix_share, sent_at, parts, account)
        SELECT held.id, given.attempt, given.cycle, given.tool_call, given.common, given.messages::jsonb,
            given.tokens, given.prefix_share, given.sent_at, given.parts::jsonb, given.account::jsonb
        FROM held JOIN unnest(
            %(run)s::uuid[], %(attempt)s::int[], %(cycle)s::smallint[], %(tool_call)s::uuid[], %(common)s::int[],
            %(messages)s::text[], %(tokens)s::int[], %(prefix_share)s::float8[], %(sent_at)s::timestamptz[],
            %(parts)s::text[], %(account)s::text[]
        ) AS given(
            run, attempt, cycle, tool_call, common, messages, tokens, prefix_share, sent_at, parts, account
        )
            ON given.run = held.id
        WHERE given.tool_call IS NULL
            OR EXISTS (SELECT FROM chat_toolcall WHERE id = given.tool_call AND run_id = held.id)
        ON CONFLICT DO NOTHING
    )
    SELECT id FROM held
    """,
    StoredRun,
)
