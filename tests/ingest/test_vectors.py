"""The vectors of chunks: each is computed once, whatever fails meanwhile, and not at all for a text that is known."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from chat.infrastructure.redis_client import sync_redis
from chat.protocol.tasks import INGEST_QUEUE
from chat.runs.task_queue import queue_length
from chat.sweeper import files as swept_files
from ingest import vectors
from ingest.vectors import compute_waiting
from knowledge.models import Chunk, ChunkVector, EmbeddingModel, File, Project
from knowledge.models.sql import chunk_vectors
from knowledge.search import embedders
from knowledge.search.indexing import is_indexing, vectors_wait
from tests import factories
from tests.indexed import add_indexed, index_again
from tests.upstream import Upstream
from tests.upstream_embeddings import DIMENSIONS, REFUSED, embed

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def upstream(embeddings_upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> Upstream:
    sync_redis().flushdb()
    monkeypatch.setattr(embedders, "WAITS_S", (0.0, 0.0))
    return embeddings_upstream


@pytest.fixture
def project() -> Project:
    return Project.objects.create(owner=factories.create_user("alice"), name="Tides")


def add(project: Project, *texts: str) -> File:
    return add_indexed(project, "a.txt", "\n\n".join(texts))


def long(word: str) -> str:
    """A chunk of its own."""
    return f"{word} " * (1_300 // (len(word) + 1)) + "."


def waiting() -> int:
    return ChunkVector.objects.waiting().count()


def test_batches_reach_across_files_and_each_text_is_embedded_once(
    project: Project, upstream: Upstream
) -> None:
    for number in range(5):
        add(project, f"Two tides a day, {number}.")
    add(project, "Two tides a day, 1.")
    assert vectors_wait()
    assert compute_waiting() is False
    _probe, *texts = upstream.embeddings.texts
    assert sorted(texts) == [f"Two tides a day, {number}." for number in range(5)]
    assert upstream.embeddings.batches == [1, 5]
    stored = {row.chunk.text: row.vector for row in ChunkVector.objects.select_related("chunk")}
    assert stored["Two tides a day, 3."] == pytest.approx(embed("Two tides a day, 3."), abs=1e-6)
    assert ChunkVector.objects.count() == 6
    assert not vectors_wait()
    assert EmbeddingModel.objects.get().dimensions == DIMENSIONS


def test_an_unchanged_text_costs_no_embedding(project: Project, upstream: Upstream) -> None:
    file = add(project, long("tide"), long("moon"))
    compute_waiting()
    asked = len(upstream.embeddings.texts)
    before = set(Chunk.objects.values_list("text", flat=True))
    index_again(file, "\n\n".join([long("seal"), long("tide"), long("moon")]))
    chunks = Chunk.objects.filter(file=file)
    unchanged = chunks.filter(text__in=before)
    assert unchanged.exists()
    assert not unchanged.filter(vectors__vector=None).exists()
    assert [chunk.position for chunk in chunks] == list(range(len(chunks)))
    other = Project.objects.create(owner=project.owner, name="Other")
    add(other, long("tide"), long("moon"))
    compute_waiting()
    new = upstream.embeddings.texts[asked:]
    assert all("seal" in text for text in new)
    assert waiting() == 0


def test_a_failing_server_is_asked_again_when_the_lease_has_ended(
    project: Project, upstream: Upstream
) -> None:
    add(project, "Two tides a day.")
    upstream.embeddings.statuses = [503]
    compute_waiting()
    assert waiting() == 0
    add(project, "One moon.")
    add(project, "Two seals.")
    upstream.embeddings.statuses = [503, 429, 500]
    assert compute_waiting() is False
    assert waiting() == 2
    assert swept_files.enqueue_vectors() == 0
    EmbeddingModel.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    assert swept_files.enqueue_vectors() == 1
    assert queue_length(INGEST_QUEUE) == 1
    assert swept_files.enqueue_vectors() == 0
    compute_waiting()
    assert waiting() == 0


def test_a_refused_text_is_found_by_its_words_alone_and_stops_no_other(
    project: Project, upstream: Upstream
) -> None:
    add(project, f"{REFUSED} tides")
    add(project, "Two tides a day.")
    compute_waiting()
    assert list(ChunkVector.objects.exclude(error="").values_list("chunk__text", "vector")) == [
        (f"{REFUSED} tides", None)
    ]
    assert ChunkVector.objects.filter(vector__isnull=False).count() == 1
    assert not vectors_wait()
    assert not is_indexing(File.objects.all())


def test_a_server_that_refuses_everything_is_asked_again(project: Project, upstream: Upstream) -> None:
    add(project, "Two tides a day.")
    compute_waiting()
    add(project, "One moon.")
    for refusals in ([400] * 3, [402] * 3):
        upstream.embeddings.statuses = refusals
        assert compute_waiting() is False
        assert waiting() == 1
        EmbeddingModel.objects.update(lease_until=timezone.now() - timedelta(seconds=1))
    compute_waiting()
    assert waiting() == 0
    assert not ChunkVector.objects.exclude(error="").exists()


def test_another_number_of_dimensions_is_not_stored(project: Project, upstream: Upstream) -> None:
    add(project, "Two tides a day.")
    compute_waiting()
    upstream.embeddings.dimensions = 3
    add(project, "One moon.")
    compute_waiting()
    assert waiting() == 1


def test_one_worker_at_a_time_computes(
    project: Project, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(project, "Two tides a day.")
    compute_waiting()
    add(project, "One moon.")
    first = EmbeddingModel.objects.claim("sea")
    assert first is not None
    asked = len(upstream.embeddings.texts)
    assert compute_waiting() is False
    assert not vectors_wait()
    assert len(upstream.embeddings.texts) == asked
    first.release()
    assert vectors_wait()
    monkeypatch.setattr(vectors, "SLICE_S", 0.0)
    assert compute_waiting() is True


def test_a_file_that_joins_a_project_gets_chunks_and_vectors(project: Project) -> None:
    file = File.objects.create(owner=project.owner, name="a.txt", text="Two tides.", status="ready")
    compute_waiting()
    assert not Chunk.objects.exists()
    file.join(project)
    compute_waiting()
    assert ChunkVector.objects.get(vector__isnull=False).chunk.file_id == file.pk


@pytest.mark.parametrize("setting", ["EMBEDDINGS_MODEL", "extension"])
def test_without_a_model_or_the_extension_nothing_waits(
    project: Project, settings: Any, monkeypatch: pytest.MonkeyPatch, setting: str
) -> None:
    if setting == "extension":
        monkeypatch.setattr("knowledge.search.indexing.has_vector_extension", lambda: False)
    else:
        settings.EMBEDDINGS_MODEL = ""
    add(project, "Two tides a day.")
    assert not vectors_wait()
    assert not is_indexing(File.objects.all())
    assert compute_waiting() is False
    assert not EmbeddingModel.objects.exists()


class Fragile:
    """A model of a library that raises for texts with a word, or for all."""

    batch = 8

    def __init__(self, word: str) -> None:
        self.word = word

    def embed_passages(self, texts: list[str]) -> list[list[float]]:
        if any(self.word in text for text in texts):
            raise IndexError("a token that is not in the vocabulary")
        return [embed(text) for text in texts]


def test_a_text_at_which_the_model_fails_stops_no_other(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "embedder_of", lambda _: Fragile("moon"))
    add(project, "moon"), add(project, "tide")
    compute_waiting()
    failed = ChunkVector.objects.exclude(error="").get()
    assert (failed.chunk.text, failed.error) == ("moon", "fails: IndexError")
    assert waiting() == 0


def test_a_model_that_fails_for_every_text_gives_none_up(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(project, "tide")
    compute_waiting()
    monkeypatch.setattr(vectors, "embedder_of", lambda _: Fragile(""))
    add(project, "moon")
    assert compute_waiting() is False
    assert waiting() == 1


def rows_read(statement: str, **values: Any) -> int:
    """How many rows the steps of a statement's plan yield together."""

    def sum_of(node: dict[str, Any]) -> int:
        return int(node["Actual Rows"] * node["Actual Loops"]) + sum(map(sum_of, node.get("Plans", ())))

    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (ANALYZE, FORMAT JSON) {statement}", values)
        [[plan]] = cursor.fetchall()
    return sum_of(plan[0]["Plan"])


def test_equal_passages_cost_no_more_than_others(project: Project) -> None:
    count = 200
    files = [add(project, "Two tides a day.") for _ in range(count)]
    compute_waiting()
    assert waiting() == 0
    model = EmbeddingModel.objects.get()
    ChunkVector.objects.filter(chunk__file__in=files[: count // 2]).update(vector=None)
    with connection.cursor() as cursor:
        cursor.execute(
            "ANALYZE knowledge_chunk, knowledge_chunkvector"
        )  # as autovacuum does after so many rows
    pks = list(ChunkVector.objects.waiting().values_list("pk", flat=True))
    read = rows_read(chunk_vectors.COPY_EQUAL, model=model.pk, vectors=pks)
    assert read < 20 * count
    assert waiting() == 0
    # Of a text that nobody has a vector of, as well.
    ChunkVector.objects.update(vector=None)
    chunks = list(Chunk.objects.values_list("pk", flat=True))
    ChunkVector.objects.filter(chunk__in=chunks[: count // 2]).delete()
    read = rows_read(chunk_vectors.WAIT_FOR, model=model.pk, chunks=chunks[: count // 2])
    assert read < 20 * count


def test_equal_passages_are_copied_a_limited_number_at_a_time(project: Project) -> None:
    files = [add(project, "Two tides a day.") for _ in range(5)]
    compute_waiting()
    ChunkVector.objects.filter(chunk__file__in=files[:3]).update(vector=None)
    model = EmbeddingModel.objects.get()

    def copy_two() -> int:
        turns = ChunkVector.objects.next_turns(model, 2)
        return len(ChunkVector.objects.copy_equal(model, [turn.pk for turn in turns]))

    assert [copy_two() for _ in range(3)] == [2, 1, 0]
