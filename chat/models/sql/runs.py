"""Statements about one run: claim, end, stop and announcement, each written for a turn of some 10 ms.

All times are the database's, so no worker's clock has to be right.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.lease import CLAIM_ASSIGNMENTS, IS_CLAIMABLE
from chat.models.sql.rows import MODEL_CONFIG, TURN, ModelConfigRow, TurnRow
from chat.models.sql.statements import Statement, literal, literals, select_list
from chat.protocol.states import LIVE, TERMINAL, Status, sources


class RunRow(NamedTuple):
    """The columns of its run that a worker needs, in the order of the model's fields."""

    attempt: int
    failures: int
    owner: int
    id: UUID
    turn_id: UUID
    message_id: UUID
    model_config_id: int | None
    model: str
    model_index: int
    forced_tool: str
    dynamic_context: str
    status: str
    deadline: datetime


class SessionOfRun(NamedTuple):
    """The columns of a run's session that its worker needs, in the order of the model's fields."""

    id: UUID
    agent_id: UUID | None
    project_id: UUID | None
    created_at: datetime


class ClaimedRun(NamedTuple):
    """time_left: until the deadline. model: None if the run's model is not configured any more."""

    run: RunRow
    time_left: timedelta
    turn: TurnRow
    session: SessionOfRun
    model: ModelConfigRow | None


class EndedAnswer(NamedTuple):
    message_id: UUID


class SessionId(NamedTuple):
    session_id: UUID


def history_with(to: str, attempt: str, why: str, owner: str = "owner") -> str:
    """The value of `history` with one more entry (chat/models/run.py describes it), for the UPDATE that moves the run.

    The parameters are SQL expressions over the row before the UPDATE.
    """
    entry = f"'at', STATEMENT_TIMESTAMP(), 'to', {to}::text, 'attempt', {attempt}, 'owner', {owner}, 'why', {why}::text"
    return f"history || jsonb_strip_nulls(jsonb_build_object({entry}))"


_RUNNING, _QUEUED, _STOPPING = (literal(one) for one in (Status.RUNNING, Status.QUEUED, Status.STOPPING))
# The status before the claim shows whether another worker had the run.
_WHY_CLAIMED = f"CASE status WHEN {_RUNNING} THEN 'lease_expired' END"
_TO_RUNNING = history_with(_RUNNING, "attempt + 1", _WHY_CLAIMED, owner="%(owner)s::bigint")
# A run whose turn waits for another one is not claimed. Parameters: run, owner, lease (an interval).
# Plan: primary keys alone.
CLAIM: Final = Statement(
    f"""
    WITH claimed AS (
        UPDATE chat_run AS run SET
            {CLAIM_ASSIGNMENTS},
            saved_seq = 0, claimed_at = COALESCE(claimed_at, STATEMENT_TIMESTAMP()), history = {_TO_RUNNING}
        WHERE id = %(run)s
            AND {IS_CLAIMABLE}
            AND EXISTS (
                SELECT FROM chat_turn AS turn LEFT JOIN chat_turn AS above ON above.id = turn.after_id
                WHERE turn.id = run.turn_id AND (turn.after_id IS NULL OR above.ended_at IS NOT NULL)
            )
        RETURNING {select_list(RunRow, "run")}, deadline - STATEMENT_TIMESTAMP() AS time_left
    )
    SELECT claimed.*, {TURN}, {select_list(SessionOfRun, "session")}, {MODEL_CONFIG}
    FROM claimed JOIN chat_turn AS turn ON turn.id = claimed.turn_id
    JOIN chat_session AS session ON session.id = turn.session_id
    LEFT JOIN chat_modelconfig AS model ON model.id = claimed.model_config_id
    """,  # noqa: S608  constants alone
    ClaimedRun,
)

_MOVES = ", ".join(
    f"({literal(source)}, {literal(to)})" for to in sorted(TERMINAL) for source in sorted(sources(to))
)
_TO_END = history_with("%(status)s", "attempt", "NULLIF(%(error_code)s::text, '')")
# Ends one attempt and saves its answer; no row if another attempt owns the run or the state machine forbids the move.
# Parameters: run, attempt, status, last_seq, the answer (text, reasoning, token_count), the error (error_code,
# error_message, error_retryable), the four token counts, time_to_first_token_ms, reasoning_ms, cycles.
# Plan: primary keys alone.
END: Final = Statement(
    f"""
    WITH ended AS (
        UPDATE chat_run SET
            status = %(status)s::text, ended_at = STATEMENT_TIMESTAMP(), lease_until = NULL,
            last_seq = %(last_seq)s, saved_seq = %(last_seq)s,
            dynamic_context = '', -- was for this run only
            history = {_TO_END},
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
                -- At most the prompt tokens, even if a server reports more: the cost must not be negative.
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
    """,  # noqa: S608  constants alone
    EndedAnswer,
)
# Parameters: run. Plan: primary keys.
STOP: Final = Statement(
    f"""
    UPDATE chat_run AS run SET status = {_STOPPING}, history = {history_with(_STOPPING, "attempt", "NULL")}
    FROM chat_turn AS turn
    WHERE run.id = %(run)s AND run.status IN ({literals(sources(Status.STOPPING))}) AND turn.id = run.turn_id
    RETURNING turn.session_id
    """,  # noqa: S608  constants alone
    SessionId,
)
# The session is locked before the run is touched, since the join needs its row. Nothing else may be read here: the
# statement sees what was committed before it waited for the lock. Parameters: run. Plan: primary keys.
ANNOUNCE: Final = Statement(
    """
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
    """,
    SessionId,
)

# A query for other statements: the live runs of one user and the queued runs of all. Parameters: owner (a user).
# Plan: both counts by run_live; from there primary keys.
IN_PROGRESS: Final = f"""
    SELECT (
        SELECT count(*) FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
        JOIN chat_session AS session ON session.id = turn.session_id
        WHERE session.owner_id = %(owner)s AND run.status IN ({literals(LIVE)})
    ) AS own, (SELECT count(*) FROM chat_run WHERE status = {_QUEUED}) AS queued
"""  # noqa: S608  constants alone
