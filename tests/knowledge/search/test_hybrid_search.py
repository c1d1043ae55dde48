"""Searching by words and vectors at once: what is found, in which languages, and never outside the scope."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ingest.vectors import compute_waiting
from knowledge.models import Chunk, ChunkVector, EmbeddingModel, File, Project
from knowledge.models.sql import chunk_search
from knowledge.models.sql.chunk_search import QueryVector, search_chunks
from knowledge.search.hybrid_search import search_files
from knowledge.search.indexing import is_indexing
from tests import factories
from tests.indexed import add_indexed, index_again
from tests.upstream import Upstream
from tests.upstream_embeddings import DIMENSIONS, embed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("embeddings_upstream")]

WORDS = ("tide", "moon", "seal", "bread", "hafen", "mond", "the", "of")


@pytest.fixture
def project() -> Project:
    return Project.objects.create(owner=factories.create_user("alice"), name="Tides")


def files_of(project: Project) -> Any:
    return File.objects.filter(project=project, owner=project.owner)


def names(project: Project, query: str, limit: int = 10) -> list[str]:
    return [found.name for found in search_files(files_of(project), query, limit)]


def test_a_question_finds_what_says_it_in_another_language(project: Project) -> None:
    add_indexed(project, "moon.txt", "The moon pulls the sea.")
    add_indexed(project, "brot.txt", "Brot backen dauert Stunden.")
    assert names(project, "Mond") == []
    compute_waiting()
    assert names(project, "Mond")[0] == "moon.txt"
    assert names(project, "bread")[0] == "brot.txt"


def test_words_find_before_there_are_vectors_and_that_is_said(project: Project) -> None:
    add_indexed(project, "moon.txt", "The moon pulls the sea.")
    assert is_indexing(files_of(project))
    assert names(project, "moon") == ["moon.txt"]
    compute_waiting()
    assert not is_indexing(files_of(project))
    [found] = search_files(files_of(project), "moon", 3)
    assert (found.by_words, found.by_vector) == (1, 1)
    File.objects.create(project=project, owner=project.owner, name="new.txt", status="processing")
    assert is_indexing(files_of(project))


def test_what_both_rankings_find_comes_before_what_one_finds(project: Project) -> None:
    add_indexed(project, "both.txt", "The moon pulls the sea.")
    add_indexed(project, "vector.txt", "Der Mond zieht das Meer.")
    add_indexed(
        project, "words.txt", "Moon landings were filmed: bread, tide, seal, harbour, bread, tide, seal."
    )
    compute_waiting()
    assert names(project, "moon")[0] == "both.txt"


def test_what_words_find_in_another_language_than_the_question_counts_little(project: Project) -> None:
    """A name in common is not what the question means; beside texts in its language neither."""
    question = "Was ist mit dem Mond und der Kirsche?"
    for number in range(10):
        add_indexed(project, "moon.txt", f"The moon pulls the sea and it is {number} years old.")
    add_indexed(project, "name.txt", "The Kirsche is a ship, and this is all that is known of it.")
    compute_waiting()
    near = QueryVector(EmbeddingModel.objects.get().pk, embed("moon"))
    assert search_chunks(files_of(project), question, near, 11)[0].name == "moon.txt"
    assert search_chunks(files_of(project), question, None, 11)[0].name == "name.txt"
    add_indexed(project, "own.txt", "Die Kirsche ist rot und nicht mit dem Apfel zu verwechseln.")
    assert search_chunks(files_of(project), question, near, 12)[0].name == "moon.txt"
    assert search_chunks(files_of(project), question, None, 12)[0].name in {"own.txt", "name.txt"}


def test_a_text_in_another_language_is_not_passed_by_all_that_words_find_in_the_questions_language(
    project: Project,
) -> None:
    """Words cannot tell whether it fits: its vector does it alone, with the weight of both."""
    for number in range(10):
        add_indexed(
            project, f"{number}.txt", f"Die Robben von Hof {number} sind mit dem Boot nicht zu sehen."
        )
        add_indexed(project, "lunar.txt", f"Lunar wird es auf der Insel {number}, und das ist schön.")
    moon = "The moon pulls the sea, and it is the cause of this."
    add_indexed(project, "moon.txt", moon)
    compute_waiting()
    near = QueryVector(EmbeddingModel.objects.get().pk, embed(moon))
    found = search_chunks(files_of(project), "Was ist mit den Robben und dem Boot nicht zu sehen?", near, 11)
    assert (found[0].name, found[0].by_words, found[0].by_vector) == ("moon.txt", None, 1)
    assert all(chunk.by_words for chunk in found[1:])


def test_a_server_that_does_not_answer_leaves_the_search_by_words(
    project: Project, embeddings_upstream: Upstream
) -> None:
    add_indexed(project, "moon.txt", "The moon pulls the sea.")
    compute_waiting()
    embeddings_upstream.embeddings.statuses = [503]
    [found] = search_files(files_of(project), "moon", 3)
    assert (found.by_words, found.by_vector) == (1, None)


def test_deleted_and_replaced_texts_are_not_found_from_then_on(project: Project) -> None:
    moon, seal = (
        add_indexed(project, "moon.txt", "The moon pulls the sea."),
        add_indexed(project, "seal.txt", "Seals sleep."),
    )
    compute_waiting()
    index_again(seal, "Bread is baked.")
    assert [chunk.text for chunk in search_files(files_of(project), "seals", 10)] == [
        "The moon pulls the sea."
    ]
    assert next(chunk.text for chunk in search_files(files_of(project), "baked", 10)) == "Bread is baked."
    moon.delete()
    assert names(project, "moon") == []
    compute_waiting()
    assert names(project, "moon") == ["seal.txt"]
    assert ChunkVector.objects.count() == 1


def test_a_small_scope_among_many_chunks_yields_as_many_as_asked(project: Project) -> None:
    """The nearest thousand belong to somebody else: the index is read on until the scope has enough."""
    other = Project.objects.create(owner=factories.create_user("bob"), name="Theirs")
    theirs = add_indexed(other, "theirs.txt", "Harbour.")
    own = add_indexed(project, "own.txt", "Harbour.")
    compute_waiting()
    model = EmbeddingModel.objects.get()
    near, far = embed("moon"), embed("bread")
    for file, count, vector in ((theirs, 1_000, near), (own, 10, far)):
        chunks = Chunk.objects.bulk_create(
            Chunk(
                file=file,
                version=0,
                position=at,
                start=at,
                text=f"x {at}",
                content_hash=b"x",
                language="simple",
            )
            for at in range(1, count + 1)
        )
        ChunkVector.objects.filter(chunk__in=chunks).delete()
        ChunkVector.objects.bulk_create(
            ChunkVector(chunk=chunk, model=model, vector=vector) for chunk in chunks
        )
    found = search_chunks(files_of(project), "", QueryVector(model.pk, near), 8)
    assert [chunk.name for chunk in found] == ["own.txt"] * 8


def test_a_scope_above_the_exact_ones_is_searched_by_the_index(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_search, "_SMALL_SCOPE", 5)
    for number in range(12):
        add_indexed(project, f"{number}.txt", f"Seals sleep, {number}.")
    add_indexed(project, "moon.txt", "The moon pulls the sea.")
    compute_waiting()
    assert names(project, "Mond", 13)[0] == "moon.txt"
    assert len(names(project, "Mond", 13)) == 13


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    texts=st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 2), st.sampled_from(["ready", "processing"]),
                  st.lists(st.sampled_from(WORDS), min_size=1, max_size=5)),
        max_size=8,
    ),
    query=st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    by=st.sampled_from(["words", "vector", "both"]),
)  # fmt: skip
def test_no_search_returns_a_chunk_outside_its_scope(
    django_user_model: Any, texts: list[Any], query: list[str], by: str
) -> None:
    File.objects.all().delete()
    Project.objects.all().delete()
    users = [django_user_model.objects.get_or_create(username=name)[0] for name in ("a", "b", "c")]
    projects = [Project.objects.create(owner=users[0], name=f"{number}") for number in range(3)]
    model, _ = EmbeddingModel.objects.get_or_create(name="sea")
    if model.dimensions is None:
        model.set_dimensions(DIMENSIONS)
    for owner, project, status, words in texts:
        text = " ".join(words)
        file = add_indexed(projects[project], text, text, owner=users[owner])
        File.objects.filter(pk=file.pk).update(status=status)
    for row in ChunkVector.objects.select_related("chunk"):
        ChunkVector.objects.record(row.pk, embed(row.chunk.text))
    asked = " ".join(query)
    vector = None if by == "words" else QueryVector(model.pk, embed(asked))
    for owner, user in enumerate(users):
        for number, project in enumerate(projects):
            scope = File.objects.filter(owner=user, project=project, status="ready")
            found = search_chunks(scope, "" if by == "vector" else asked, vector, 5)
            allowed = {" ".join(t[3]) for t in texts if t[:3] == (owner, number, "ready")}
            assert {chunk.file for chunk in found} <= set(scope.values_list("pk", flat=True))
            if vector is not None:
                assert len(found) == min(5, len(allowed))
