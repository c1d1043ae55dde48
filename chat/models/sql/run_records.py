"""Statements that store what is recorded of attempts at a run: their setups, and the requests to their models."""

from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.statements import Statement
from chat.transcript.answer_settings import AnswerSetup, canonical_json


class SetupParameters(NamedTuple):
    """The setup of an attempt as parameters; all None if there is nothing to store. content, options: JSON."""

    version: str | None
    content: str | None
    agent: UUID | None
    agent_name: str | None
    options: str | None

    @classmethod
    def from_setup(cls, setup: AnswerSetup | None) -> "SetupParameters":
        if setup is None:
            return cls(None, None, None, None, None)
        return cls(setup.version, setup.content, setup.agent, setup.agent_name, canonical_json(setup.options))


class PurgedVersion(NamedTuple):
    digest: str


def store_setups(versions: str, setups: str) -> str:
    """Return CTEs that store new contents and the setups of attempts, for a statement that writes their runs anyway.

    versions: a table (version, content) with each content at least once.  setups: a table (run, attempt, version,
    agent, agent_name, options). Rows without a version are ignored. A repeat, or a second write of an attempt, changes
    nothing. Plan: primary key of chat_promptversion, one_setup_per_attempt.
    """
    return f"""
    stored_version AS (
        INSERT INTO chat_promptversion (digest, content)
        SELECT DISTINCT ON (version) version, content::jsonb FROM {versions} AS given
        WHERE content IS NOT NULL AND NOT EXISTS (
            SELECT FROM chat_promptversion AS known WHERE known.digest = given.version AND known.unused_since IS NULL
        )
        ORDER BY version -- one order for all processes, or they might wait for each other
        ON CONFLICT (digest) DO UPDATE SET unused_since = NULL
    ), stored_setup AS (
        INSERT INTO chat_runsetup (run_id, attempt, version_id, agent, agent_name, options)
        SELECT run, attempt, version, agent, agent_name, options::jsonb FROM {setups} AS given WHERE version IS NOT NULL
        ON CONFLICT DO NOTHING
    )"""  # noqa: S608  constants alone


_IS_UNUSED: Final = "NOT EXISTS (SELECT FROM chat_runsetup WHERE version_id = version.digest)"
# Parameters: rest (an interval). Plan: chat_promptversion is read whole (some hundred rows); chat_runsetup by version.
MARK_UNUSED: Final = Statement(
    f"""
    UPDATE chat_promptversion AS version SET unused_since = STATEMENT_TIMESTAMP()
    WHERE unused_since IS NULL AND created_at < STATEMENT_TIMESTAMP() - %(rest)s AND {_IS_UNUSED}
    RETURNING digest
    """,  # noqa: S608  constants alone
    PurgedVersion,
)
PURGE_UNUSED: Final = Statement(
    f"""
    DELETE FROM chat_promptversion AS version
    WHERE unused_since < STATEMENT_TIMESTAMP() - %(rest)s AND {_IS_UNUSED} RETURNING digest
    """,  # noqa: S608  constants alone
    PurgedVersion,
)


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
