"""The search over chunks, one statement: by words, by vectors, and both fused by reciprocal ranks (decision 0109).

The scope is a condition inside each part that reads chunks, so that no rank depends on a chunk outside of it.
"""

from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from knowledge.languages import Language, detect_language
from knowledge.models.file import File

# Chunks of each ranking that are fused.
DEPTH: Final = 60
# Reciprocal rank fusion: 1 / (this + rank). The usual value (Cormack, Clarke, Büttcher 2009).
_RANK_OFFSET: Final = 60
# What words count if they find a chunk in another language than the question: names, and accidents. Beside vectors, whose rank
# stands for the rest of what words could have said of it (decision 0112).
_FOREIGN: Final = 0.1
# A word that more chunks of the scope have is not counted further, and finds none of its own beside rarer ones.
_COMMON: Final = 2_000
# A scope of at most so many chunks is compared vector by vector: exact, and always as many as asked.
_SMALL_SCOPE: Final = 8_000
# Of the index, for larger scopes: candidates at a time (decision 0109), and all of them, enough for 60 of 8,000 among ten million.
_CANDIDATES: Final = 400
_MOST_SCANNED: Final = 100_000
# Chunks with a smaller share of the best one's relevance hold little more than words that most chunks have.
_LEAST_SHARE: Final = 0.2


class FoundChunk(NamedTuple):
    """start: in the file's text, in characters.  by_words, by_vector: its rank there from 1, None if it has none.

    By words, chunks with the same score share a rank.
    score: of the fused ranking, the higher the better; it means nothing beside those of another search.
    """

    id: int
    file: UUID
    name: str
    start: int
    text: str
    by_words: int | None
    by_vector: int | None
    url: str = ""
    knowledge_base: UUID | None = None
    score: float = 0.0


class QueryVector(NamedTuple):
    """model: the primary key of its EmbeddingModel, whose index is used."""

    model: int
    vector: list[float]


# Plan: files of the scope by their own index, then one_chunk_per_position.
_SCOPE: Final = """
    WITH scope AS MATERIALIZED (
        SELECT chunk.id FROM knowledge_chunk AS chunk WHERE {scope} LIMIT {small} + 1
    ), size AS MATERIALIZED (
        SELECT count(*) AS chunks FROM scope
    ), """
# ts_rank of one word grows with its n occurrences as sum(1/i²) up to 1.64 times the first: within 1 % of BM25's
# n (k1 + 1) / (n + k1) with k1 = 0.645. Chunks are about equally long, so that BM25's b hardly matters (decision 0106).
# Stop words of the query's language count in no language. Concatenation with '' unpacks the words of a chunk once.
# Chunks that words do not tell apart have the same rank: the vectors decide.
# Plan: the index of the words of a language for each word, and for the rarest together.
_BY_WORDS: Final = """
    asked AS (
        SELECT string_agg(lexeme, ' ') AS text FROM unnest(to_tsvector('simple', %(text)s))
        WHERE to_tsvector(%(language)s::regconfig, lexeme) <> ''
    ), term AS (
        SELECT DISTINCT of.language, lexeme, quote_literal(lexeme)::tsquery AS query
        FROM asked, (VALUES ('simple'), ('english'), ('german')) AS of(language),
            unnest(to_tsvector(of.language::regconfig, asked.text))
    ), counted AS MATERIALIZED ({counted}), weighted AS MATERIALIZED (
        SELECT language, query,
            ln(1 + (size.chunks - least(counted.chunks, size.chunks) + 0.5) / (counted.chunks + 0.5)) AS weight,
            sum(counted.chunks) OVER (ORDER BY counted.chunks, language, lexeme) AS found,
            row_number() OVER (ORDER BY counted.chunks, language, lexeme) AS rarity
        FROM counted, size WHERE counted.chunks > 0
    ), rare AS (
        SELECT language, string_agg(query::text, ' | ')::tsquery AS query FROM weighted
        WHERE found <= {common} OR rarity = 1 GROUP BY language
    ), candidate AS MATERIALIZED (SELECT * FROM ({candidates}) AS every LIMIT {common}), scored AS MATERIALIZED (
        SELECT candidate.id, candidate.language, sum(weighted.weight * ts_rank(candidate.words, weighted.query)) AS score
        FROM candidate JOIN weighted ON candidate.words @@ weighted.query AND weighted.language = candidate.language
        GROUP BY candidate.id, candidate.language
    ), by_words AS (
        SELECT id, rank() OVER (ORDER BY round(score::numeric, 4) DESC) AS rank,
            CASE WHEN {foreign} THEN {share} ELSE 1.0 END AS share
        FROM scored AS chunk WHERE score >= {least} * (SELECT max(score) FROM scored) ORDER BY score DESC, id LIMIT {depth}
    )"""
# Once for each language, by its name, which its index is found by: a word is in the chunks of one language as a stem, and in
# those of the others, perhaps of most, as it stands.
_COUNTED: Final = """
        SELECT language, lexeme, query, (
            SELECT count(*) FROM (
                SELECT FROM knowledge_chunk AS chunk
                WHERE chunk.words @@ term.query AND chunk.language = '{of}' AND {scope} LIMIT {common}
            ) AS limited
        ) AS chunks FROM term WHERE language = '{of}'
    """
_CANDIDATES_OF: Final = """(
        SELECT chunk.id, chunk.language, chunk.words || '' AS words
        FROM rare JOIN knowledge_chunk AS chunk ON chunk.words @@ rare.query
        WHERE rare.language = '{of}' AND chunk.language = '{of}' AND {scope} LIMIT {common}
    )"""
# One of the two runs, by the size of the scope. Plan: one_vector_per_model, not sorted there, or the index would be used;
# or the HNSW index of the model, read on until the scope has yielded enough (hnsw.iterative_scan: decision 0109).
_BY_VECTOR: Final = """
    exact AS MATERIALIZED (
        SELECT of.chunk_id AS id, of.vector::halfvec({dimensions}) <=> %(vector)s::real[]::halfvec({dimensions}) AS distance
        FROM scope JOIN knowledge_chunkvector AS of ON of.chunk_id = scope.id AND of.model_id = {model}
        WHERE of.vector IS NOT NULL AND (SELECT chunks FROM size) <= {small}
    ), indexed AS (
        SELECT of.chunk_id AS id, of.vector::halfvec({dimensions}) <=> %(vector)s::real[]::halfvec({dimensions}) AS distance
        FROM knowledge_chunkvector AS of JOIN knowledge_chunk AS chunk ON chunk.id = of.chunk_id
        WHERE of.model_id = {model} AND of.vector IS NOT NULL AND {scope} AND (SELECT chunks FROM size) > {small}
        ORDER BY distance LIMIT {depth}
    ), by_vector AS (
        SELECT id, rank, CASE WHEN {foreign} THEN 2 - {share} ELSE 1.0 END AS share FROM (
            SELECT id, row_number() OVER (ORDER BY distance, id) AS rank
            FROM (SELECT * FROM exact UNION ALL SELECT * FROM indexed) AS nearest ORDER BY distance, id LIMIT {depth}
        ) AS ranked JOIN knowledge_chunk AS chunk USING (id)
    )"""
_WITHOUT: Final = "{name} AS (SELECT 0::bigint AS id, 0::bigint AS rank, 1.0 AS share WHERE false)"
# Of words whose language is not known the same is expected of any chunk.
_IS_FOREIGN: Final = "'simple' NOT IN (chunk.language, %(language)s) AND chunk.language <> %(language)s"
_FUSED: Final = """, fused AS (
        SELECT id, by_words.rank AS by_words, by_vector.rank AS by_vector,
            coalesce(by_words.share / ({offset} + by_words.rank), 0)
                + coalesce(by_vector.share / ({offset} + by_vector.rank), 0) AS score
        FROM by_words FULL JOIN by_vector USING (id) ORDER BY score DESC, by_words NULLS LAST, id LIMIT %(limit)s
    )
    SELECT chunk.id, file.id, file.name, chunk.start, chunk.text, fused.by_words, fused.by_vector,
        file.url, file.knowledge_base_id, fused.score::float8
    FROM fused JOIN knowledge_chunk AS chunk ON chunk.id = fused.id JOIN knowledge_file AS file ON file.id = chunk.file_id
    ORDER BY fused.score DESC, fused.by_words NULLS LAST, fused.id"""


def search_chunks(
    files: QuerySet[File], text: str, vector: QueryVector | None, limit: int
) -> list[FoundChunk]:
    """The chunks of `files` that fit best, by words (unless `text` is empty) and by vector (unless it is None)."""
    scope, parameters = _scope(files)
    statement, own = _statement(scope, text, vector)
    with transaction.atomic(), connection.cursor() as cursor:
        if vector:
            cursor.execute("SET LOCAL hnsw.iterative_scan = strict_order")
            cursor.execute(f"SET LOCAL hnsw.ef_search = {_CANDIDATES:d}")
            cursor.execute(f"SET LOCAL hnsw.max_scan_tuples = {_MOST_SCANNED:d}")
        cursor.execute(statement, parameters | own | {"limit": limit})
        return [FoundChunk(*row) for row in cursor.fetchall()]


def _statement(scope: str, text: str, vector: QueryVector | None) -> tuple[str, dict[str, Any]]:
    # None of what is filled in comes from outside: numbers, and SQL of a queryset with its values apart.
    filled = {"scope": scope, "common": _COMMON, "least": _LEAST_SHARE, "depth": DEPTH, "small": _SMALL_SCOPE}
    filled |= {"foreign": _IS_FOREIGN, "share": _FOREIGN if text and vector else 1.0}
    for name, part in {"counted": _COUNTED, "candidates": _CANDIDATES_OF}.items():
        filled[name] = " UNION ALL ".join(part.format_map(filled | {"of": one.value}) for one in Language)
    by_words = _BY_WORDS.format_map(filled) if text else _WITHOUT.format(name="by_words")
    by_vector = _WITHOUT.format(name="by_vector")
    if vector:
        by_vector = _BY_VECTOR.format_map(filled | {"model": vector.model, "dimensions": len(vector.vector)})
    statement = f"{_SCOPE.format_map(filled)}{by_words}, {by_vector}{_FUSED.format(offset=_RANK_OFFSET)}"
    return statement, {
        "text": text,
        "language": detect_language(text),
        "vector": vector.vector if vector else None,
    }


def _scope(files: QuerySet[File]) -> tuple[str, dict[str, Any]]:
    """The condition on a chunk, of the version that is found, with named parameters: the queryset's are in its order."""
    sql, values = files.order_by().values("pk", "chunks_version").query.sql_with_params()
    named = {f"scope{number}": value for number, value in enumerate(values)}
    return f"(chunk.file_id, chunk.version) IN ({sql % tuple(f'%({name})s' for name in named)})", named
