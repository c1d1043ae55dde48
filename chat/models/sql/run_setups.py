"""Statements, and a part of others, that store and purge the setups of attempts (RunSetup, PromptVersion)."""

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
