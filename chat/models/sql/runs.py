"""Statements about one run: claim, end, stop and announcement, each written for a turn of some 10 ms.

All times are the database's, so no worker's clock has to be right.
"""

from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.lease import CLAIM_ASSIGNMENTS, IS_CLAIMABLE
from chat.models.sql.rows import MODEL_CONFIG, TURN, ModelConfigRow, TurnRow
from chat.models.sql.run_records import store_setups
from chat.models.sql.statements import JSONText, Statement, literal, literals, select_list
from chat.models.sql.usage import add_use_sql
from chat.protocol.states import LIVE, TERMINAL, Status, sources
from chat.protocol.tasks import DEFAULT_QUEUE
from chat.transcript.usage import RunSpending


class RunRow(NamedTuple):
    """The columns of a run that its worker needs, in the order of the model's fields."""

    options: JSONText
    attempt: int
    failures: int
    owner: int
    knowledge_bases: list[UUID]
    are_bases_picked: bool
    knowledge_access: str
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
    continuations: int


class SessionOfRun(NamedTuple):
    """The columns of a run's session that its worker needs, in the order of the model's fields."""

    id: UUID
    owner_id: int
    agent_id: UUID | None
    project_id: UUID | None
    created_at: datetime
    settings: JSONText | None


class ClaimedRun(NamedTuple):
    """time_left: until the deadline. model: None if the run's model is not configured any more."""

    run: RunRow
    time_left: timedelta
    turn: TurnRow
    session: SessionOfRun
    model: ModelConfigRow | None


class EndedAnswer(NamedTuple):
    message_id: UUID


class ContinuedTurn(NamedTuple):
    id: UUID


class SpentTurn(NamedTuple):
    turn_id: UUID


class StoppedRun(NamedTuple):
    session_id: UUID
    continuations: int


class AnnouncedRun(NamedTuple):
    """is_new: the run was not announced before."""

    session_id: UUID
    is_new: bool


def history_with(to: str, attempt: str, why: str, owner: str = "owner") -> str:
    """Return SQL for `history` with one more entry (see chat/models/run.py), for the UPDATE that moves the run.

    The parameters are SQL expressions over the row before the UPDATE.
    """
    entry = f"'at', STATEMENT_TIMESTAMP(), 'to', {to}::text, 'attempt', {attempt}, 'owner', {owner}, 'why', {why}::text"
    return f"history || jsonb_strip_nulls(jsonb_build_object({entry}))"


_RUNNING, _QUEUED, _STOPPING = (literal(one) for one in (Status.RUNNING, Status.QUEUED, Status.STOPPING))
# The status before the claim shows whether another worker had the run.
_WHY_CLAIMED = f"CASE status WHEN {_RUNNING} THEN 'lease_expired' END"
_TO_RUNNING = history_with(_RUNNING, "attempt + 1", _WHY_CLAIMED, owner="%(owner)s::bigint")
# A condition on a run: its turn does not wait for another turn.
IS_UNBLOCKED = """EXISTS (
    SELECT FROM chat_turn AS turn LEFT JOIN chat_turn AS above ON above.id = turn.after_id
    WHERE turn.id = run.turn_id AND (turn.after_id IS NULL OR above.ended_at IS NOT NULL)
)"""
# Claims the run in the table `free`, whose row is locked, and reads what its worker needs.
CLAIM_FREE = f"""claimed AS (
        UPDATE chat_run AS run SET
            {CLAIM_ASSIGNMENTS},
            saved_seq = 0, claimed_at = COALESCE(claimed_at, STATEMENT_TIMESTAMP()), history = {_TO_RUNNING}
        FROM free WHERE run.id = free.run
        RETURNING {select_list(RunRow, "run")}, deadline - STATEMENT_TIMESTAMP() AS time_left
    )
    SELECT claimed.*, {TURN}, {select_list(SessionOfRun, "session")}, {MODEL_CONFIG}
    FROM claimed JOIN chat_turn AS turn ON turn.id = claimed.turn_id
    JOIN chat_session AS session ON session.id = turn.session_id
    LEFT JOIN chat_modelconfig AS model ON model.id = claimed.model_config_id
"""  # noqa: S608  constants alone
# A run whose turn waits for another one is not claimed, nor one that another delivery is claiming: nobody waits for a
# lock. Parameters: run, owner, lease (an interval). Plan: primary keys alone.
CLAIM: Final = Statement(
    f"""
    WITH free AS (
        SELECT id AS run FROM chat_run AS run WHERE id = %(run)s AND {IS_CLAIMABLE} AND {IS_UNBLOCKED}
        FOR NO KEY UPDATE SKIP LOCKED
    ), {CLAIM_FREE}
    """,  # noqa: S608  constants alone
    ClaimedRun,
)

_MOVES = ", ".join(
    f"({literal(source)}, {literal(to)})" for to in sorted(TERMINAL) for source in sorted(sources(to))
)
# NULL: as stored.
_SPENT = ", ".join(f"spent_{name} = COALESCE(%(spent_{name})s, spent_{name})" for name in RunSpending._fields)
_TO_END = history_with("%(status)s", "attempt", "NULLIF(%(error_code)s::text, '')")
# Ends one attempt and saves its answer; no row if another attempt owns the run or the state machine forbids the move.
# Parameters: run, attempt, owner (NULL: of any), status, last_seq, the answer (text, reasoning, token_count), the error (error_code,
# error_message, error_retryable, and upstream_status, upstream_code, upstream_message), the token counts,
# time_to_first_token_ms, reasoning_ms, cycles, finish_reason, finish_tokens, context_usage, what the run has used
# (spending_columns), and the setup of the attempt (SetupParameters).
# Plan: primary keys, one_daily_use_per_user_and_day.
END: Final = Statement(
    f"""
    WITH before AS (
        SELECT id AS ended_run, spent_tokens AS counted_tokens, COALESCE(cost, 0) AS counted_cost FROM chat_run
        WHERE id = %(run)s AND attempt = %(attempt)s AND owner IS NOT DISTINCT FROM COALESCE(%(owner)s::bigint, owner)
        FOR NO KEY UPDATE
    ), ended AS (
        UPDATE chat_run SET
            status = %(status)s::text, ended_at = STATEMENT_TIMESTAMP(), lease_until = NULL,
            last_seq = %(last_seq)s, saved_seq = %(last_seq)s,
            dynamic_context = '', -- was for this run only
            history = {_TO_END},
            -- A continuation keeps the first of these, and the second with the reasoning it belongs to.
            time_to_first_token_ms = COALESCE(time_to_first_token_ms, %(time_to_first_token_ms)s),
            reasoning_ms = COALESCE(%(reasoning_ms)s, CASE WHEN %(reasoning)s <> '' THEN reasoning_ms END),
            cycles = %(cycles)s, {_SPENT},
            prompt_tokens = %(prompt_tokens)s, completion_tokens = %(completion_tokens)s,
            cached_tokens = %(cached_tokens)s, reasoning_tokens = %(reasoning_tokens)s,
            estimated_tokens = %(estimated_tokens)s,
            finish_reason = %(finish_reason)s, finish_tokens = %(finish_tokens)s,
            -- The attempt may have ended before it sent a request.
            context_usage = COALESCE(%(context_usage)s::jsonb, context_usage),
            error_code = %(error_code)s::text, error_message = %(error_message)s,
            error_retryable = %(error_retryable)s,
            upstream_status = %(upstream_status)s, upstream_code = %(upstream_code)s,
            upstream_message = %(upstream_message)s,
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
        FROM before
        WHERE id = ended_run AND attempt = %(attempt)s AND (status, %(status)s::text) IN ({_MOVES})
        RETURNING id AS run, attempt, message_id, turn_id, spent_tokens - counted_tokens AS tokens,
            COALESCE(cost, 0) - counted_cost AS cost, COALESCE(estimated_tokens, 0) > 0 AS is_estimated
    ), setup AS (
        SELECT run, attempt, %(version)s::text AS version, %(content)s::text AS content, %(agent)s::uuid AS agent,
            %(agent_name)s::text AS agent_name, %(options)s::text AS options
        FROM ended
    ), {store_setups("setup", "setup")}, {add_use_sql("ended")}
    UPDATE chat_chatmessage AS message
    SET text = %(text)s, reasoning = %(reasoning)s, token_count = %(token_count)s
    FROM ended WHERE message.id = ended.message_id RETURNING message.id
    """,  # noqa: S608  constants alone
    EndedAnswer,
)
# Stores what a run has used by now, for it and for its owner's day. The caller holds the lock of its row.
# Parameters: run and those of spending_columns. Plan: primary keys, one_daily_use_per_user_and_day.
SPEND: Final = Statement(
    f"""
    WITH before AS (
        SELECT id AS spending_run, spent_tokens AS counted_tokens FROM chat_run WHERE id = %(run)s
    ), spent AS (
        UPDATE chat_run SET {_SPENT} FROM before WHERE id = spending_run
        RETURNING turn_id, spent_tokens - counted_tokens AS tokens, 0::numeric AS cost, FALSE AS is_estimated
    ), {add_use_sql("spent")}
    SELECT turn_id FROM spent
    """,  # noqa: S608  constants alone
    SpentTurn,
)
# Continues an answer that was cut, stopped or broken off. The attempt that it takes writes nothing but the text so far into a new log, so that
# no reader takes the end of the log before for the end of this one.
# Parameters: run, dynamic_context, the columns of RunKnowledgeFields, limit (an interval), token (NULL: none), whose use
# what comes is, unless another answer of the turn is being written.
# Plan: primary keys, chat_chatmessage by parent, chat_turn by user message, one_answer_per_turn_and_model.
GO_ON: Final = Statement(
    f"""
    WITH continued AS (
        UPDATE chat_run AS run SET
            status = {_QUEUED}, attempt = attempt + 1, continuations = continuations + 1, failures = 0, owner = NULL,
            queued_at = STATEMENT_TIMESTAMP(), deadline = STATEMENT_TIMESTAMP() + %(limit)s, claimed_at = NULL,
            ended_at = NULL, last_seq = NULL, announced_at = NULL, saved_seq = 0, error_code = '', error_message = '',
            error_retryable = FALSE, upstream_status = NULL, upstream_code = '', upstream_message = '',
            asker_id = (
                SELECT session.owner_id FROM chat_turn AS turn JOIN chat_session AS session ON session.id = turn.session_id
                WHERE turn.id = run.turn_id
            ),
            ready_queue = (SELECT queue FROM chat_modelconfig AS model WHERE model.id = run.model_config_id),
            dynamic_context = %(dynamic_context)s, knowledge_bases = %(knowledge_bases)s::uuid[],
            are_bases_picked = %(are_bases_picked)s, knowledge_access = %(knowledge_access)s,
            history = {history_with(_QUEUED, "attempt + 1", "'continued'", owner="NULL")}
        FROM chat_chatmessage AS message
        WHERE run.id = %(run)s AND message.id = run.message_id AND message.text <> ''
            AND status IN ({literals(TERMINAL)}) AND announced_at IS NOT NULL
            AND model_config_id IS NOT NULL
            -- A reply that was taken back before any model read the answer does not count.
            AND NOT EXISTS (
                SELECT FROM chat_chatmessage AS reply JOIN chat_turn AS next ON next.user_message_id = reply.id
                JOIN chat_run AS replying ON replying.turn_id = next.id
                WHERE reply.parent_id = message.id AND (
                    replying.status IN ({literals(LIVE)}) OR replying.claimed_at IS NOT NULL OR replying.cycles > 0
                    OR replying.is_imported
                )
            )
        RETURNING run.turn_id
    )
    UPDATE chat_turn AS turn SET ended_at = NULL, api_token = CASE
        WHEN EXISTS (
            SELECT FROM chat_run AS other
            WHERE other.turn_id = turn.id AND other.id <> %(run)s AND other.status IN ({literals(LIVE)})
        ) THEN api_token ELSE %(token)s::uuid
    END
    FROM continued WHERE turn.id = continued.turn_id RETURNING turn.id
    """,  # noqa: S608  constants alone
    ContinuedTurn,
)
# Parameters: run. Plan: primary keys.
STOP: Final = Statement(
    f"""
    UPDATE chat_run AS run SET status = {_STOPPING}, history = {history_with(_STOPPING, "attempt", "NULL")}
    FROM chat_turn AS turn
    WHERE run.id = %(run)s AND run.status IN ({literals(sources(Status.STOPPING))}) AND turn.id = run.turn_id
    RETURNING turn.session_id, run.continuations
    """,  # noqa: S608  constants alone
    StoppedRun,
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
        RETURNING run.id
    )
    SELECT id, EXISTS (SELECT FROM announced) FROM held
    """,
    AnnouncedRun,
)

# A query for other statements: the live runs of one user, and by queue (jsonb) the queued runs of all, without those that
# wait behind an answer which waits for its user: that may take days, while workers have nothing to do. The runs that are
# ready in one queue are not counted beyond `most_queued`.
# Parameters: owner (a user), most_queued. Plan: run_live_of_user, run_ready; chat_modelconfig is read whole. From the
# runs that are not ready primary keys, and run_live.
IN_PROGRESS: Final = f"""
    SELECT (
        SELECT count(*) FROM chat_run WHERE asker_id = %(owner)s AND status IN ({literals(LIVE)})
    ) AS own, (
        SELECT COALESCE(jsonb_object_agg(by_queue.queue, by_queue.runs), '{{}}') FROM (
            SELECT part.queue, sum(part.runs) AS runs FROM (
                SELECT model.queue, (
                    SELECT count(*) FROM (
                        SELECT FROM chat_run WHERE status = {_QUEUED} AND ready_queue = model.queue LIMIT %(most_queued)s
                    ) AS ready
                ) AS runs FROM (SELECT DISTINCT queue FROM chat_modelconfig WHERE enabled) AS model
                UNION ALL
                SELECT COALESCE(model.queue, {literal(DEFAULT_QUEUE)}), count(*)
                FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
                LEFT JOIN chat_modelconfig AS model ON model.id = run.model_config_id
                WHERE run.status = {_QUEUED} AND run.ready_queue IS NULL AND turn.session_id NOT IN (
                    SELECT above.session_id FROM chat_run AS waiting JOIN chat_turn AS above ON above.id = waiting.turn_id
                    WHERE waiting.status = {literal(Status.WAITING)}
                ) GROUP BY 1
            ) AS part GROUP BY 1
        ) AS by_queue
    ) AS queued
"""  # noqa: S608  constants alone
