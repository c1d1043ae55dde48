"""The rows of chunks by embedding model: a vector that a chunk with the same text has is copied."""

from typing import Final

# The vector of each requested text, looked up once per text: a file may consist of one repeated passage.
# Plan: chunk_content for each text, and one_vector_per_model.
_KNOWN: Final = """known AS MATERIALIZED (
        SELECT asked.content_hash, (
            SELECT equal.vector FROM knowledge_chunk AS other
            JOIN knowledge_chunkvector AS equal ON equal.chunk_id = other.id AND equal.model_id = %(model)s
            WHERE other.content_hash = asked.content_hash AND equal.vector IS NOT NULL LIMIT 1
        ) AS vector FROM asked
    )"""
# Plan: the chunks and their files by their primary keys.
WAIT_FOR: Final = f"""
    WITH asked AS MATERIALIZED (
        SELECT DISTINCT content_hash FROM knowledge_chunk WHERE id = ANY(%(chunks)s)
    ), {_KNOWN}
    INSERT INTO knowledge_chunkvector (chunk_id, model_id, owner, vector)
    SELECT chunk.id, %(model)s, file.owner_id, known.vector
    FROM knowledge_chunk AS chunk JOIN known USING (content_hash) JOIN knowledge_file AS file ON file.id = chunk.file_id
    WHERE chunk.id = ANY(%(chunks)s)
"""  # noqa: S608  constants alone
ADD_MISSING: Final = """
    INSERT INTO knowledge_chunkvector (chunk_id, model_id, owner)
    SELECT chunk.id, %(model)s, file.owner_id
    FROM knowledge_chunk AS chunk JOIN knowledge_file AS file ON file.id = chunk.file_id
    WHERE NOT EXISTS (SELECT FROM knowledge_chunkvector AS of WHERE of.chunk_id = chunk.id AND of.model_id = %(model)s)
    ON CONFLICT DO NOTHING
"""
# Plan: the vectors and their chunks by their primary keys.
COPY_EQUAL: Final = f"""
    WITH waiting AS MATERIALIZED (
        SELECT vector.id, chunk.content_hash FROM knowledge_chunkvector AS vector
        JOIN knowledge_chunk AS chunk ON chunk.id = vector.chunk_id
        WHERE vector.id = ANY(%(vectors)s) AND vector.vector IS NULL AND vector.error = ''
    ), asked AS MATERIALIZED (SELECT DISTINCT content_hash FROM waiting), {_KNOWN}
    UPDATE knowledge_chunkvector AS copy SET vector = known.vector FROM waiting JOIN known USING (content_hash)
    WHERE copy.id = waiting.id AND copy.vector IS NULL AND known.vector IS NOT NULL
    RETURNING copy.id
"""  # noqa: S608  constants alone
