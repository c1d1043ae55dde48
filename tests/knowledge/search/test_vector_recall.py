"""The index of vectors finds what an exact comparison finds, also for questions unlike all texts, and in few of many files."""

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pytest
from django.db import connection

from knowledge.models import Chunk, ChunkVector, EmbeddingModel, File, Project
from knowledge.models.sql import chunk_search
from knowledge.models.sql.chunk_search import QueryVector, search_chunks
from tests import factories

pytestmark = pytest.mark.django_db

SEED: Final = 5
DIMENSIONS: Final = 32
FILES: Final = 100
CHUNKS: Final = 20
QUESTIONS: Final = 20
K: Final = 10


@pytest.fixture
def texts() -> Any:
    """Normal vectors around 40 subjects, in the order of the chunks."""
    rng = np.random.default_rng(SEED)
    subjects = rng.normal(size=(40, DIMENSIONS))
    vectors = subjects[rng.integers(40, size=FILES * CHUNKS)] + 0.5 * rng.normal(
        size=(FILES * CHUNKS, DIMENSIONS)
    )
    return vectors.astype("float32")


@pytest.fixture
def chunks(texts: Any, monkeypatch: pytest.MonkeyPatch) -> list[Chunk]:
    """Stored with their vectors, and searched by the index however few they are."""
    monkeypatch.setattr(chunk_search, "_SMALL_SCOPE", 0)
    project = Project.objects.create(owner=factories.create_user("alice"), name="Tides")
    files = File.objects.bulk_create(
        File(owner=project.owner, project=project, name=f"{number}", status="ready", chunks_version=0)
        for number in range(FILES)
    )
    stored = Chunk.objects.bulk_create(
        Chunk(
            file=file,
            version=0,
            position=at,
            start=at,
            text=f"{file.name} {at}",
            content_hash=b"x",
            language="simple",
        )
        for file in files
        for at in range(CHUNKS)
    )
    model = EmbeddingModel.objects.create(name="synthetic")
    ChunkVector.objects.bulk_create(
        ChunkVector(chunk=chunk, model=model, vector=vector)
        for chunk, vector in zip(stored, texts.tolist(), strict=True)
    )
    with connection.cursor() as cursor:
        # Foreign keys are checked at the end, and an index is created when they are.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        model.set_dimensions(DIMENSIONS)
        cursor.execute("ANALYZE knowledge_chunk, knowledge_chunkvector")
        # Among so few, the planner might compare all.
        cursor.execute("SET LOCAL enable_sort = off")
    return stored


def index_scans() -> int:
    """Of the index of vectors, in this transaction."""
    name = EmbeddingModel.objects.get().index_name
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_get_xact_numscans(%s::regclass)", [name])
        [(count,)] = cursor.fetchall()
    return int(count)


def questions_of(kind: str, texts: Any) -> Any:
    rng = np.random.default_rng(SEED + 1)
    noise = rng.normal(size=(QUESTIONS, DIMENSIONS))
    return {"like texts": texts[::100] + 0.2 * noise, "unlike all texts": noise}[kind]


def recall(found: Sequence[int], question: Any, texts: Any, chunks: Sequence[Chunk]) -> float:
    similarity = texts @ question / np.linalg.norm(texts, axis=1)
    exact = {chunks[at].pk for at in np.argsort(-similarity)[:K]}
    return len(exact & set(found)) / K


def check(scope: Any, questions: Any, texts: Any, chunks: Sequence[Chunk]) -> None:
    """texts, chunks: of the scope."""
    model = EmbeddingModel.objects.get().pk
    recalls = []
    for question in questions:
        found = search_chunks(scope, "", QueryVector(model, question.tolist()), K)
        assert len(found) == K
        recalls.append(recall([one.id for one in found], question, texts, chunks))
    assert np.mean(recalls) >= 0.95


def test_the_index_finds_what_is_nearest_in_all_files_and_in_one_of_a_hundred(
    texts: Any, chunks: list[Chunk]
) -> None:
    files = File.objects.all()
    for kind in ("like texts", "unlike all texts"):
        check(files, questions_of(kind, texts), texts, chunks)
        check(files.filter(name="0"), questions_of(kind, texts), texts[:CHUNKS], chunks[:CHUNKS])
    assert index_scans() >= 4 * QUESTIONS
