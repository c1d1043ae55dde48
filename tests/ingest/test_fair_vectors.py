"""Owners take turns while vectors are computed, however long the text of one of them is (decision 0094)."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from django.contrib.auth.models import User

from chat.infrastructure.redis_client import sync_redis
from ingest import vectors
from ingest.vectors import compute_waiting
from knowledge.models import Chunk, ChunkVector, EmbeddingModel, File, FileStatus, Project
from knowledge.search.indexing import vectors_wait
from tests import factories
from tests.indexed import add_indexed
from tests.upstream_embeddings import embed

pytestmark = pytest.mark.django_db(transaction=True)


class Recorder:
    """A model of embeddings. batches: what it was asked for.  before: called before each batch."""

    batch = 4

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.before: Callable[[], object] = lambda: None

    def embed_passages(self, texts: Sequence[str]) -> list[list[float]]:
        if texts != [vectors._PROBE]:
            self.before()
            self.batches.append(list(texts))
        return [embed(text) for text in texts]


@pytest.fixture(autouse=True)
def embedder(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Recorder:
    sync_redis().flushdb()
    settings.EMBEDDINGS_BASE_URL, settings.EMBEDDINGS_MODEL = "http://127.0.0.1:1/v1", "sea"
    recorder = Recorder()
    monkeypatch.setattr(vectors, "embedder_of", lambda _: recorder)
    monkeypatch.setattr(vectors, "SLICE_S", 600.0)
    return recorder


def project_of(name: str) -> Project:
    owner = User.objects.filter(username=name).first() or factories.create_user(name)
    return Project.objects.create(owner=owner, name="Tides")


def passages(word: str, count: int) -> str:
    """A text of so many chunks, which differ."""
    return "\n\n".join(
        f"{word} {number} " + f"{word} " * (1_300 // (len(word) + 1)) for number in range(count)
    )


def add(name: str, count: int = 1) -> File:
    """The owner's name is the word of the text."""
    return add_indexed(project_of(name), "a.txt", passages(name, count))


def owners(batch: Sequence[str]) -> set[str]:
    return {text.split()[0] for text in batch}


def chunks_of(name: str) -> int:
    return Chunk.objects.filter(file__owner__username=name).count()


def test_a_long_text_does_not_hold_up_a_short_one(embedder: Recorder) -> None:
    add("alice", 30)
    add("bob")
    compute_waiting()
    assert "bob" in owners(embedder.batches[0])
    assert sum(map(len, embedder.batches)) == chunks_of("alice") + chunks_of("bob")
    assert not vectors_wait()


def test_a_short_text_that_comes_later_is_in_the_next_batch(embedder: Recorder) -> None:
    add("alice", 30)

    def upload_once() -> None:
        embedder.before = lambda: None
        add("bob")

    embedder.before = upload_once
    compute_waiting()
    assert [owners(batch) for batch in embedder.batches[:3]] == [{"alice"}, {"alice", "bob"}, {"alice"}]


def test_a_batch_is_shared_by_those_who_wait(embedder: Recorder) -> None:
    add("alice", 30)
    add("bob", 30)
    compute_waiting()
    for batch in embedder.batches[:5]:
        assert sorted(text.split()[0] for text in batch) == ["alice", "alice", "bob", "bob"]


def test_chunks_that_are_deleted_before_their_turn_ask_the_model_for_nothing(
    embedder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    add("alice")
    queryset = type(ChunkVector.objects.all())
    copy_equal = queryset.copy_equal

    def delete_first(self: Any, *given: Any) -> set[int]:
        Chunk.objects.all().delete()
        return copy_equal(self, *given)

    monkeypatch.setattr(queryset, "copy_equal", delete_first)
    monkeypatch.setattr(type(ChunkVector.objects), "copy_equal", delete_first)
    assert compute_waiting() is False
    assert embedder.batches == []


def test_more_owners_than_a_batch_has_places_all_have_their_turn_in_a_round() -> None:
    names = ["alice", "bob", "carol", "dave", "erin"]
    for name in names:
        add(name, 6)
    EmbeddingModel.objects.register("sea")
    turns: list[str] = []
    for _ in range(5):
        # By another process each time.
        model = EmbeddingModel.objects.claim("sea")
        assert model
        batch = ChunkVector.objects.next_turns(model, 2)
        for turn in batch:
            row = ChunkVector.objects.select_related("chunk__file__owner").get(pk=turn.pk)
            turns.append(row.chunk.file.owner.username)
            ChunkVector.objects.record(row.pk, embed(row.chunk.text))
        assert model.end_turn(batch[-1].owner)
        model.release()
    assert turns == names * 2


def test_equal_passages_of_a_long_text_are_copied_in_turns(
    embedder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = add("alice", 1)
    compute_waiting()
    text = Chunk.objects.get(file=known).text
    for _ in range(20):
        add_indexed(project_of("alice"), "a.txt", text)
    ChunkVector.objects.exclude(chunk__file=known).update(vector=None)
    add("bob")
    monkeypatch.setattr(vectors, "_LOOKED_AT", 4)
    waiting: list[int] = []
    embedder.before = lambda: waiting.append(ChunkVector.objects.waiting().count())
    compute_waiting()
    assert (len(embedder.batches), waiting) == (2, [0 + 21 - 3])
    assert not ChunkVector.objects.waiting().exists()


def test_one_text_of_each_owner_gets_chunks_before_the_next_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of files that join a project when they are ready."""
    for name, count in (("alice", 3), ("bob", 1)):
        for _ in range(count):
            project = project_of(name)
            given = {"owner": project.owner, "project": project, "status": FileStatus.READY}
            File.objects.create(name="a.txt", text=passages(name, 2), **given)
    with monkeypatch.context() as hurried:
        hurried.setattr(vectors, "SLICE_S", -1.0)
        assert compute_waiting() is True
    assert sorted(File.objects.filter(chunks_version=0).values_list("owner__username", flat=True)) == [
        "alice",
        "bob",
    ]
    assert compute_waiting() is False
    assert not File.objects.filter(chunks_version=None).exists()
    assert not vectors_wait()
