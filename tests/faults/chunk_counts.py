"""Chunks of files and their vectors, as Postgres has them."""

from typing import NamedTuple

from tests.faults.cluster import Cluster

COUNTS = """
    SELECT count(*), count(DISTINCT (chunk.file_id, chunk.position)), count(of.vector),
        count(*) FILTER (WHERE chunk.version IS DISTINCT FROM file.chunks_version)
    FROM knowledge_chunk AS chunk JOIN knowledge_file AS file ON file.id = chunk.file_id
    LEFT JOIN knowledge_chunkvector AS of ON of.chunk_id = chunk.id
    WHERE file.id = ANY(%s::uuid[])
"""


class ChunkCounts(NamedTuple):
    """rows: chunks, one for each of their vectors.  places: in the files.  stale: those that are not found."""

    rows: int
    places: int
    vectors: int
    stale: int

    @property
    def are_complete(self) -> bool:
        """Each chunk is there once, is found, and has one vector."""
        return self.rows == self.places == self.vectors > 0 and not self.stale


def count_chunks(cluster: Cluster, *files: str) -> ChunkCounts:
    [counts] = cluster.rows(COUNTS, list(files))
    return ChunkCounts(*counts)
