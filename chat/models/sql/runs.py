"""The SQL of a run's life, for chat/models/run.py: claimed, stopped, ended and announced, in a turn of some 10 ms."""

from typing import Any

from chat.models.model_config import ModelConfig
from chat.models.session import Session
from chat.models.sql import statements
from chat.models.sql.lease import CLAIM_ASSIGNMENTS, IS_CLAIMABLE
from chat.models.turn import Turn
from chat.protocol.states import LIVE, TERMINAL, Status, sources

# Columns of its run that a worker needs, in the order of the model's fields; the rest is loaded when asked for.
CLAIMED = (
    "attempt",
    "failures",
    "owner",
    "id",
    "turn_id",
    "message_id",
    "model_config_id",
    "model",
    "model_index",
    "forced_tool",
    "dynamic_context",
    "status",
    "deadline",
)
_RETURNED = ", ".join(CLAIMED)
_TURN = statements.names(Turn)
_SESSION = ("id", "agent_id", "project_id", "created_at")
_CONFIG = statements.names(ModelConfig)


def noted(to: str, attempt: str, why: str, owner: str = "owner") -> str:
    """The value of `history` with one more entry; SQL expressions over the row as it was. chat/models/run.py says
    what an entry is. Inside the UPDATE that happens anyway: what a run has been through costs no round trip."""
    entry = f"'at', STATEMENT_TIMESTAMP(), 'to', {to}::text, 'attempt', {attempt}, 'owner', {owner}, 'why', {why}::text"
    return f"history || jsonb_strip_nulls(jsonb_build_object({entry}))"


# What the row was before says whether another worker had it.
_WHY_CLAIMED = "CASE status WHEN 'running' THEN 'lease_expired' END"

# On the database's clock throughout: no worker's has to be right. A turn that waits for another is not claimed.
CLAIM = f"""
    WITH claimed AS (
        UPDATE chat_run AS run SET
            {CLAIM_ASSIGNMENTS},
            saved_seq = 0, claimed_at = COALESCE(claimed_at, STATEMENT_TIMESTAMP()),
            history = {noted("'running'", "attempt + 1", _WHY_CLAIMED, owner="%(owner)s::bigint")}
        WHERE id = %(run)s
            AND {IS_CLAIMABLE}
            AND EXISTS (
                SELECT FROM chat_turn AS turn LEFT JOIN chat_turn AS above ON above.id = turn.after_id
                WHERE turn.id = run.turn_id AND (turn.after_id IS NULL OR above.ended_at IS NOT NULL)
            )
        RETURNING {_RETURNED}, deadline - STATEMENT_TIMESTAMP() AS time_left
    )
    SELECT claimed.*, {statements.columns(Turn, "turn")}, session.id, session.agent_id, session.project_id,
        session.created_at,
        {statements.columns(ModelConfig, "config")}
    FROM claimed JOIN chat_turn AS turn ON turn.id = claimed.turn_id
    JOIN chat_session AS session ON session.id = turn.session_id
    LEFT JOIN chat_modelconfig AS config ON config.id = claimed.model_config_id
"""  # noqa: S608  names of columns alone

_MOVES = ", ".join(f"('{source}', '{to}')" for to in sorted(TERMINAL) for source in sorted(sources(to)))
END = f"""
    WITH ended AS (
        UPDATE chat_run SET
            status = %(status)s::text, ended_at = STATEMENT_TIMESTAMP(), lease_until = NULL,
            last_seq = %(last_seq)s, saved_seq = %(last_seq)s,
            dynamic_context = '', -- was for this run only
            history = {noted("%(status)s", "attempt", "NULLIF(%(error_code)s::text, '')")},
            time_to_first_token_ms = %(time_to_first_token_ms)s, reasoning_ms = %(reasoning_ms)s, cycles = %(cycles)s,
            prompt_tokens = %(prompt_tokens)s, completion_tokens = %(completion_tokens)s,
            cached_tokens = %(cached_tokens)s, reasoning_tokens = %(reasoning_tokens)s,
            error_code = %(error_code)s::text, error_message = %(error_message)s,
            error_retryable = %(error_retryable)s,
            cost = (
                SELECT (
                    (%(prompt_tokens)s::int - cached) * model.prompt_price
                    + cached * COALESCE(model.cached_price, model.prompt_price)
                    + %(completion_tokens)s::int * model.completion_price
                ) / 1000000
                -- Never more than were sent, whatever a server says: a run does not cost less than nothing.
                FROM chat_modelconfig AS model,
                    LEAST(COALESCE(%(cached_tokens)s::int, 0), %(prompt_tokens)s::int) AS cached
                WHERE model.id = model_config_id
            )
        WHERE id = %(run)s AND attempt = %(attempt)s AND (status, %(status)s::text) IN ({_MOVES})
        RETURNING message_id
    )
    UPDATE chat_chatmessage AS message
    SET text = %(text)s, reasoning = %(reasoning)s, token_count = %(token_count)s
    FROM ended WHERE message.id = ended.message_id RETURNING message.id
"""  # noqa: S608  no values

_STOPPABLE = ", ".join(f"'{source}'" for source in sorted(sources(Status.STOPPING)))
STOP = f"""
    UPDATE chat_run AS run SET status = 'stopping', history = {noted("'stopping'", "attempt", "NULL")}
    FROM chat_turn AS turn
    WHERE run.id = %(run)s AND run.status IN ({_STOPPABLE}) AND turn.id = run.turn_id RETURNING turn.session_id
"""  # noqa: S608  no values

# The session is locked before the run is touched: the join needs its row. Nothing else may be read here, since
# the statement sees what was committed before it waited for the lock.
ANNOUNCE = """
    WITH held AS (
        SELECT id FROM chat_session WHERE id = (
            SELECT turn.session_id FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
            WHERE run.id = %(run)s
        ) FOR NO KEY UPDATE
    ), announced AS (
        UPDATE chat_run AS run SET announced_at = STATEMENT_TIMESTAMP() FROM held
        WHERE run.id = %(run)s AND ended_at IS NOT NULL AND announced_at IS NULL
    )
    SELECT id FROM held
"""

_LIVE = ", ".join(f"'{status}'" for status in sorted(LIVE))
IN_PROGRESS = f"""
    SELECT (
        SELECT count(*) FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
        JOIN chat_session AS session ON session.id = turn.session_id
        WHERE session.owner_id = %(owner)s AND run.status IN ({_LIVE})
    ) AS own, (SELECT count(*) FROM chat_run WHERE status = 'queued') AS queued
"""  # noqa: S608  no values


def turn_of(row: Any) -> tuple[Turn, ModelConfig | None]:
    """What a row of CLAIM says after the run's own columns: its turn with the session, and the model."""
    rest = row[len(CLAIMED) + 1 :]
    turn = statements.instance(Turn, _TURN, rest[: len(_TURN)])
    turn.session = statements.instance(Session, _SESSION, rest[len(_TURN) : len(_TURN) + len(_SESSION)])
    config = rest[len(_TURN) + len(_SESSION) :]
    return turn, None if config[0] is None else statements.instance(ModelConfig, _CONFIG, config)
