"""The search over chunks in one statement: by words, by vectors, and both fused (decision 0106).

A chunk has the words of its text, or those of its normal form if they differ (decision 0106).
The scope is a condition in each part that reads chunks, so that no rank depends on a chunk outside of the scope.
"""

from typing import Any, Final, NamedTuple
from uuid import UUID

from django.db import connection, transaction
from django.db.models import QuerySet

from knowledge.models.file import File
from knowledge.texts.searched_text import Language, detect_language, normal_form, query_words

# Chunks of each ranking that take part in the fusion.
DEPTH: Final = 60
# The weight of the squared coverage of the query's words, beside the weight of 1 of a vector (decision 0106).
_WORDS_WEIGHT: Final = 0.25
# Added to distances before a division: a text equal to the query has a distance of 0, or less by rounding.
_OFFSET: Final = 0.001
# ts_rank of a word that occurs once.
_RANK_OF_ONE: Final = 0.0608
# Only the first different words of a query are used; each is counted in three languages.
MAX_WORDS: Final = 64
# Counting stops at so many chunks of the scope. So frequent a word finds no chunks itself if there are rarer words.
_COMMON: Final = 1_000
# In a scope of at most so many chunks, all vectors are compared: the result is exact and never too short.
_SMALL_SCOPE: Final = 8_000
# For larger scopes, the candidates of the index per scan (decision 0106), and in total: enough for 60 results from
# 8,000 chunks among ten million.
_CANDIDATES: Final = 1_000
_MOST_SCANNED: Final = 100_000
# Chunks with a smaller share of the best score contain little more than frequent words.
_LEAST_SHARE: Final = 0.2


class FoundChunk(NamedTuple):
    """A result of a search. start: offset in the file's text, in characters.

    by_words, by_vector: rank in this ranking, from 1; None if absent. By words, chunks with equal scores share a rank.
    score: of the fused ranking, higher is better; not comparable with scores of another search.
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
    """The vector of a query. model: the primary key of its EmbeddingModel, whose index is used."""

    model: int
    vector: list[float]


# Plan: files of the scope by an index of the files, then one_chunk_per_position.
_SCOPE: Final = """
    WITH scope AS MATERIALIZED (
        SELECT chunk.id FROM knowledge_chunk AS chunk WHERE {scope} LIMIT {small} + 1
    ), size AS MATERIALIZED (
        SELECT count(*) AS chunks FROM scope
    ), """
# ts_rank of one word grows with its n occurrences as sum(1/i²) up to 1.64 times the first: within 1 % of BM25's
# n (k1 + 1) / (n + k1) with k1 = 0.645. Chunks are about equally long, so that BM25's b hardly matters (decision 0106).
# Stop words of the query's language count in no language. Concatenation with '' unpacks the words of a chunk once.
# Chunks with equal scores have the same rank, so that the vectors decide.
# Plan: the index of a language for each word, and once for all rare words.
_BY_WORDS: Final = """
    asked AS (
        SELECT string_agg(lexeme, ' ') AS text FROM (
            SELECT lexeme FROM unnest(to_tsvector('simple', %(text)s))
            WHERE to_tsvector(%(language)s::regconfig, lexeme) <> '' ORDER BY positions[1] LIMIT {most_words}
        ) AS first
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
    ), best AS (
        SELECT {rank_of_one} * min(score) AS score FROM (
            SELECT sum(ln(1 + (size.chunks - least(counted.chunks, size.chunks) + 0.5) / (counted.chunks + 0.5))) AS score
            FROM counted, size GROUP BY language
        ) AS of_language
    ), by_words AS (
        SELECT id, rank() OVER (ORDER BY round(score::numeric, 4) DESC) AS rank,
            least(score / (SELECT score FROM best), 1) AS coverage
        FROM scored WHERE score >= {least} * (SELECT max(score) FROM scored) ORDER BY score DESC, id LIMIT {depth}
    )"""
# Repeated for each language by name, because each language has an index. A word occurs as a stem in the chunks of one
# language, and as it stands in those of the others, perhaps in most of them.
_COUNTED: Final = """
        SELECT language, lexeme, query, (
            SELECT count(*) FROM (
                SELECT FROM knowledge_chunk AS chunk
                WHERE (chunk.words @@ term.query OR chunk.normal_words @@ term.query) AND chunk.language = '{of}' AND {scope} LIMIT {common}
            ) AS limited
        ) AS chunks FROM term WHERE language = '{of}'
    """
_CANDIDATES_OF: Final = """(
        SELECT chunk.id, chunk.language, coalesce(chunk.normal_words, chunk.words) || '' AS words
        FROM rare JOIN knowledge_chunk AS chunk ON chunk.words @@ rare.query OR chunk.normal_words @@ rare.query
        WHERE rare.language = '{of}' AND chunk.language = '{of}' AND {scope} LIMIT {common}
    )"""
# The size of the scope decides which of the two parts runs. Plan: one_vector_per_model, without a sort there, or the
# HNSW index would be used; or the HNSW index of the model, scanned until it has yielded enough chunks of the scope
# (hnsw.iterative_scan: decision 0106).
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
        SELECT id, distance, row_number() OVER (ORDER BY distance + 0, id) AS rank
        FROM (SELECT * FROM exact UNION ALL SELECT * FROM indexed) AS nearest ORDER BY distance + 0, id LIMIT {depth}
    )"""
_WITHOUT_WORDS: Final = (
    "by_words AS (SELECT 0::bigint AS id, 0::bigint AS rank, 0::float8 AS coverage WHERE false)"
)
_WITHOUT_VECTOR: Final = (
    "by_vector AS (SELECT 0::bigint AS id, NULL::float8 AS distance, 0::bigint AS rank WHERE false)"
)
# The distance of a chunk that only the words found. Plan: one_vector_per_model.
_DISTANCE: Final = """(
            SELECT of.vector::halfvec({dimensions}) <=> %(vector)s::real[]::halfvec({dimensions})
            FROM knowledge_chunkvector AS of WHERE of.chunk_id = by_words.id AND of.model_id = {model}
        )"""
# For a chunk without a vector, the coverage of the words replaces the vector's part. It is hardly comparable with
# vectors, one of which is always the nearest: the best of these chunks get every third place (decision 0106). Scores
# are raised to those of later places. Of chunks with the same text, as of a document that was added twice, the first
# is returned.
_FUSED: Final = """, found AS (
        SELECT id, by_words.rank AS by_words, by_vector.rank AS by_vector, coalesce(coverage, 0) AS coverage,
            coalesce(by_vector.distance, {distance}) + {offset} AS distance
        FROM by_words FULL JOIN by_vector USING (id)
    ), rated AS (
        SELECT *, coalesce(min(distance) OVER () / distance, coverage) + {words_weight} * coverage * coverage AS score
        FROM found
    ), placed AS (
        SELECT *, row_number() OVER ranking AS place, row_number() OVER of_kind AS number
        FROM rated WINDOW ranking AS (ORDER BY score DESC, by_words NULLS LAST, id),
            of_kind AS (PARTITION BY distance IS NULL ORDER BY score DESC, by_words NULLS LAST, id)
    ), kept AS (
        SELECT *, CASE WHEN distance IS NULL THEN least(place - number, 2 * number) + 0.5 ELSE number END AS after
        FROM placed
    ), compared AS (
        SELECT kept.*, row_number() OVER (PARTITION BY chunk.text ORDER BY after, number) AS copy
        FROM kept JOIN knowledge_chunk AS chunk USING (id)
    ), fused AS (
        SELECT id, by_words, by_vector, row_number() OVER (ORDER BY after, number) AS place,
            max(score) OVER (ORDER BY after DESC, number DESC) AS score
        FROM compared WHERE copy = 1 ORDER BY after, number LIMIT %(limit)s
    )
    SELECT chunk.id, file.id, coalesce(served.name, file.name), chunk.start, chunk.text, fused.by_words, fused.by_vector,
        coalesce(served.url, file.url), file.knowledge_base_id, fused.score::float8
    FROM fused JOIN knowledge_chunk AS chunk ON chunk.id = fused.id JOIN knowledge_file AS file ON file.id = chunk.file_id
        LEFT JOIN knowledge_servedversion AS served ON served.document_id = file.id
    ORDER BY fused.place"""


def search_chunks(
    files: QuerySet[File], text: str, vector: QueryVector | None, limit: int
) -> list[FoundChunk]:
    """Return the best chunks of `files`, each text once, by words (unless `text` is empty) and by vector (unless it is None)."""
    scope, parameters = _scope(files)
    statement, own = _statement(scope, text, vector)
    with transaction.atomic(), connection.cursor() as cursor:
        if vector:
            cursor.execute("SET LOCAL hnsw.iterative_scan = relaxed_order")
            cursor.execute(f"SET LOCAL hnsw.ef_search = {_CANDIDATES:d}")
            cursor.execute(f"SET LOCAL hnsw.max_scan_tuples = {_MOST_SCANNED:d}")
            # The planner estimates a few rows for the scope, and would sort the vectors of the whole table.
            cursor.execute("SET LOCAL enable_sort = off")
        cursor.execute(statement, parameters | own | {"limit": limit})
        return [FoundChunk(*row) for row in cursor.fetchall()]


def _statement(scope: str, text: str, vector: QueryVector | None) -> tuple[str, dict[str, Any]]:
    # All inserted values are our own: numbers, and the SQL of a queryset without its parameters.
    filled = {"scope": scope, "common": _COMMON, "least": _LEAST_SHARE, "depth": DEPTH, "small": _SMALL_SCOPE}
    filled["most_words"] = MAX_WORDS
    filled |= {"rank_of_one": _RANK_OF_ONE, "offset": _OFFSET, "words_weight": _WORDS_WEIGHT}
    for name, part in {"counted": _COUNTED, "candidates": _CANDIDATES_OF}.items():
        filled[name] = " UNION ALL ".join(part.format_map(filled | {"of": one.value}) for one in Language)
    by_words = _BY_WORDS.format_map(filled) if text else _WITHOUT_WORDS
    by_vector, filled["distance"] = _WITHOUT_VECTOR, "NULL"
    if vector:
        filled |= {"model": vector.model, "dimensions": len(vector.vector)}
        by_vector, filled["distance"] = _BY_VECTOR.format_map(filled), _DISTANCE.format_map(filled)
    statement = f"{_SCOPE.format_map(filled)}{by_words}, {by_vector}{_FUSED.format_map(filled)}"
    return statement, {
        "text": query_words(normal_form(text)),
        "language": detect_language(text),
        "vector": vector.vector if vector else None,
    }


def _scope(files: QuerySet[File]) -> tuple[str, dict[str, Any]]:
    """Build the condition on chunks of the current versions, with named parameters in place of positional ones."""
    sql, values = files.order_by().values("pk", "chunks_version").query.sql_with_params()
    named = {f"scope{number}": value for number, value in enumerate(values)}
    return f"(chunk.file_id, chunk.version) IN ({sql % tuple(f'%({name})s' for name in named)})", named
