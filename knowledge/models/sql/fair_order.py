"""The order of files and chunks: users take turns, however many files one of them has sent (decision 0094)."""

from typing import Final, NamedTuple


class WaitingVector(NamedTuple):
    """A row of ChunkVector that waits for a vector, and the owner of its file."""

    pk: int
    owner: int


# Claims the file that has waited longest among the owners with the fewest files in work. The place of a file among its
# owner's files counts as well, so that all deliveries see the same order: concurrent deliveries do not see each other's
# claims, and skip the rows that others have locked.
# A file of `slow_type` waits while its owner has `most_slow` files in work or before it: it may take ten minutes.
# Parameters: lease_s, slow_type, most_slow. Plan: file_processing, from there primary keys.
CLAIM_FILE: Final = """
    WITH live AS (
        SELECT id, owner_id, queued_at, lease_until IS NOT NULL AS is_held FROM knowledge_file WHERE status = 'processing'
    ), held AS (
        SELECT owner_id, count(*) AS files FROM live WHERE is_held GROUP BY owner_id
    ), waiting AS (
        SELECT id, owner_id, queued_at,
            row_number() OVER (PARTITION BY owner_id ORDER BY queued_at, id) AS place
        -- One that the storage has failed for waits until then.
        FROM live WHERE NOT is_held AND queued_at <= STATEMENT_TIMESTAMP()
    ), free AS (
        SELECT file.id
        FROM knowledge_file AS file JOIN waiting ON waiting.id = file.id
        LEFT JOIN held ON held.owner_id = waiting.owner_id
        -- Checked again when the row is locked.
        WHERE file.status = 'processing' AND file.lease_until IS NULL
            AND (file.content_type <> %(slow_type)s OR COALESCE(held.files, 0) + waiting.place <= %(most_slow)s)
        ORDER BY COALESCE(held.files, 0) + waiting.place, waiting.queued_at, waiting.id LIMIT 1
        FOR NO KEY UPDATE OF file SKIP LOCKED
    )
    UPDATE knowledge_file AS file SET attempt = file.attempt + 1, lease_until = STATEMENT_TIMESTAMP() + make_interval(secs => %(lease_s)s)
    FROM free WHERE file.id = free.id RETURNING file.id
"""
# The next vectors to compute: the first of each owner, then the second of each, and so on. The owners form a circle
# that begins after the owner of the last turn, so that nobody waits longer than a round if there are many owners.
# Parameters: model, latest (an owner), most. Plan: vector_waiting_by_owner, once per owner and for the returned rows.
NEXT_VECTORS: Final = """
    WITH RECURSIVE asker AS (
        (SELECT owner FROM knowledge_chunkvector
        WHERE model_id = %(model)s AND vector IS NULL AND error = '' ORDER BY owner LIMIT 1)
        UNION ALL
        SELECT (SELECT waiting.owner FROM knowledge_chunkvector AS waiting
            WHERE waiting.model_id = %(model)s AND waiting.vector IS NULL AND waiting.error = ''
            AND waiting.owner > asker.owner ORDER BY waiting.owner LIMIT 1)
        FROM asker WHERE asker.owner IS NOT NULL
    )
    SELECT part.id, asker.owner FROM asker CROSS JOIN LATERAL (
        SELECT first.id, row_number() OVER (ORDER BY first.id) AS place FROM (
            SELECT id FROM knowledge_chunkvector AS waiting
            WHERE waiting.model_id = %(model)s AND waiting.vector IS NULL AND waiting.error = ''
            AND waiting.owner = asker.owner ORDER BY waiting.id LIMIT %(most)s
        ) AS first
    ) AS part
    ORDER BY part.place, asker.owner <= %(latest)s, asker.owner LIMIT %(most)s
"""
