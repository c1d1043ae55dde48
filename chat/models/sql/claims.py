"""The run that a delivery claims: its own while no slot is missing, else the fairest to its user (decision 0086)."""

from typing import Final

from chat.models.sql.lease import IS_CLAIMABLE
from chat.models.sql.runs import CLAIM_FREE, IS_UNBLOCKED, ClaimedRun
from chat.models.sql.statements import Statement, literal, literals
from chat.protocol.states import HELD, LIVE, Status
from chat.protocol.tasks import DEFAULT_QUEUE

_QUEUED = literal(Status.QUEUED)
# The named run, if it has just been queued. Parameters: run, owner, lease, fresh (intervals). Plan: primary keys alone.
CLAIM_FRESH: Final = Statement(
    f"""
    WITH free AS (
        SELECT id AS run FROM chat_run AS run
        WHERE id = %(run)s AND status = {_QUEUED} AND queued_at > STATEMENT_TIMESTAMP() - %(fresh)s AND {IS_UNBLOCKED}
        FOR NO KEY UPDATE SKIP LOCKED
    ), {CLAIM_FREE}
    """,  # noqa: S608  constants alone
    ClaimedRun,
)
# A run that waits in the queue, or the named run if its lease has expired, of the user with the fewest held runs: the
# named run if it is that user's, else the run that has waited longest.
# Parameters: run, queue, owner, lease (an interval). Plan: run_live, from there primary keys.
CLAIM_FAIREST: Final = Statement(
    f"""
    WITH live AS (
        SELECT run.id, run.status AS state, session.owner_id AS asker
        FROM chat_run AS run JOIN chat_turn AS turn ON turn.id = run.turn_id
        JOIN chat_session AS session ON session.id = turn.session_id
        LEFT JOIN chat_modelconfig AS model ON model.id = run.model_config_id
        WHERE run.status IN ({literals(LIVE)}) AND COALESCE(model.queue, {literal(DEFAULT_QUEUE)}) = %(queue)s
    ), held AS (
        SELECT asker, count(*) AS runs FROM live WHERE state IN ({literals(HELD)}) GROUP BY asker
    ), free AS (
        SELECT run.id AS run
        FROM chat_run AS run JOIN live ON live.id = run.id LEFT JOIN held ON held.asker = live.asker
        -- The conditions on the run itself are checked again when its row is locked.
        WHERE (run.status = {_QUEUED} OR run.id = %(run)s) AND {IS_CLAIMABLE} AND {IS_UNBLOCKED}
        ORDER BY COALESCE(held.runs, 0), run.id <> %(run)s, run.queued_at, run.id LIMIT 1
        FOR NO KEY UPDATE OF run SKIP LOCKED
    ), {CLAIM_FREE}
    """,  # noqa: S608  constants alone
    ClaimedRun,
)
