"""The run that a delivery claims: its own while no slot is missing, else the fairest to its user (decision 0086).

No claim reads every live run: what it costs depends on the runs that workers hold, of which there are as many as slots,
and at most on the number of users who wait.
"""

from typing import Final, NamedTuple
from uuid import UUID

from chat.models.sql.lease import IS_CLAIMABLE
from chat.models.sql.runs import CLAIM_FREE, IS_UNBLOCKED, ClaimedRun
from chat.models.sql.statements import Statement, literal, literals
from chat.protocol.states import HELD, Status
from chat.protocol.tasks import DEFAULT_QUEUE

# The runs that have waited longest, looked through for one of a user who holds none before every user's first run is.
_EARLY: Final = 100
# Runs among which one is chosen if all early ones are of users who hold some: others may be claiming the first of them.
_CHOICES: Final = 20

_QUEUED = literal(Status.QUEUED)
# For WHERE: the run waits for a worker of the queue. The columns of each index on ready_queue follow in ORDER BY.
_IS_READY = f"run.status = {_QUEUED} AND run.ready_queue = %(queue)s"
_LOCKED = "FOR NO KEY UPDATE OF run SKIP LOCKED"
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
# named run if it is that user's, else the run that has waited longest. The alternatives of COALESCE are evaluated in
# turn; a row that another delivery is claiming is skipped in each, and the last one takes any run that waits.
# Parameters: run, queue, owner, lease (an interval).
# Plan: run_live for the held runs, run_ready, run_ready_of_user (one look-up for each user who waits), primary keys.
CLAIM_FAIREST: Final = Statement(
    f"""
    WITH RECURSIVE held AS MATERIALIZED (
        SELECT asker_id, count(*) AS runs FROM chat_run
        WHERE status IN ({literals(HELD)}) AND ready_queue = %(queue)s AND asker_id IS NOT NULL GROUP BY asker_id
    ), named AS MATERIALIZED (
        SELECT run.id, run.queued_at, COALESCE(held.runs, 0) AS runs FROM chat_run AS run
        LEFT JOIN chat_modelconfig AS model ON model.id = run.model_config_id
        LEFT JOIN held ON held.asker_id = run.asker_id
        WHERE run.id = %(run)s AND COALESCE(model.queue, {literal(DEFAULT_QUEUE)}) = %(queue)s
            AND {IS_CLAIMABLE} AND {IS_UNBLOCKED}
    ), first AS ( -- of each user who waits
        (
            SELECT run.asker_id, run.id, run.queued_at FROM chat_run AS run
            WHERE {_IS_READY} AND run.asker_id IS NOT NULL ORDER BY run.asker_id, run.queued_at, run.id LIMIT 1
        ) UNION ALL
        SELECT next.* FROM first CROSS JOIN LATERAL (
            SELECT run.asker_id, run.id, run.queued_at FROM chat_run AS run
            WHERE {_IS_READY} AND run.asker_id > first.asker_id ORDER BY run.asker_id, run.queued_at, run.id LIMIT 1
        ) AS next
    ), free AS (
        SELECT COALESCE((
            SELECT run.id FROM chat_run AS run
            WHERE run.id = (SELECT id FROM named WHERE runs = 0) AND {IS_CLAIMABLE} {_LOCKED}
        ), (
            SELECT run.id FROM (
                SELECT run.id, run.asker_id, run.queued_at FROM chat_run AS run
                WHERE {_IS_READY} ORDER BY run.queued_at, run.id LIMIT {_EARLY}
            ) AS early JOIN chat_run AS run ON run.id = early.id
            WHERE early.asker_id NOT IN (SELECT asker_id FROM held) AND {_IS_READY} AND {IS_UNBLOCKED}
            ORDER BY early.queued_at, early.id LIMIT 1 {_LOCKED}
        ), (
            SELECT run.id FROM (
                SELECT first.id, first.queued_at, COALESCE(held.runs, 0) AS runs, FALSE AS is_named
                FROM first LEFT JOIN held ON held.asker_id = first.asker_id
                UNION ALL SELECT id, queued_at, runs, TRUE FROM named
                ORDER BY runs, is_named DESC, queued_at, id LIMIT {_CHOICES}
            ) AS choice JOIN chat_run AS run ON run.id = choice.id
            -- The conditions on the run itself are checked again when its row is locked.
            WHERE (run.status = {_QUEUED} OR run.id = %(run)s) AND {IS_CLAIMABLE} AND {IS_UNBLOCKED}
            ORDER BY choice.runs, choice.is_named DESC, choice.queued_at, choice.id LIMIT 1 {_LOCKED}
        ), (
            SELECT run.id FROM chat_run AS run
            WHERE {_IS_READY} AND {IS_UNBLOCKED} ORDER BY run.queued_at, run.id LIMIT 1 {_LOCKED}
        )) AS run
    ), {CLAIM_FREE}
    """,  # noqa: S608  constants alone
    ClaimedRun,
)


class QueuePosition(NamedTuple):
    """place: 1 is the run that has waited longest in its queue; runs whose turn waits for another come last."""

    run: UUID
    place: int


# Parameter: runs. Plan: every queued run, since each may be the one before.
QUEUE_POSITIONS: Final = Statement(
    f"""
    SELECT id, place FROM (
        SELECT run.id, ROW_NUMBER() OVER (
            PARTITION BY COALESCE(model.queue, {literal(DEFAULT_QUEUE)})
            ORDER BY run.ready_queue IS NULL, run.created_at, run.model_index
        ) AS place
        FROM chat_run AS run LEFT JOIN chat_modelconfig AS model ON model.id = run.model_config_id
        WHERE run.status = {_QUEUED}
    ) AS line
    WHERE id = ANY(%(runs)s)
    """,  # noqa: S608  constants alone
    QueuePosition,
)
