"""Searching the texts of a project by words."""

from types import SimpleNamespace
from typing import Any

import pytest
from django.db import connections

from knowledge.models import Chunk, EmbeddingModel, File, Project
from knowledge.search import hybrid_search as search
from knowledge.search.hybrid_search import search_files
from tests import factories
from tests.concurrency import run_concurrently

FILLER = "The harbour is large and the boats are small. " * 40


@pytest.fixture
def alice(db: None) -> Any:
    return factories.create_user("alice")


@pytest.fixture
def project(alice: Any) -> Project:
    return Project.objects.create(owner=alice, name="Tides")


def add(project: Project, name: str, text: str, **fields: Any) -> File:
    given = {"owner": project.owner, "status": "ready", "token_count": 5}
    return File.objects.create(project=project, name=name, text=text, **given | fields)


def files_of(project: Project) -> Any:
    return File.objects.filter(project=project, owner=project.owner)


def names(project: Project, query: str) -> list[str]:
    return [found.name for found in search_files(files_of(project), query, 10)]


def test_the_passage_that_says_it_is_found_with_its_place(project: Project) -> None:
    text = FILLER + "\n\nSpring tides follow the new moon.\n\n" + FILLER
    file = add(project, "tides.txt", text)
    best = search_files(files_of(project), "when do spring tides come?", 3)[0]
    assert "new moon" in best.text
    assert (best.file, best.name) == (file.pk, "tides.txt")
    assert text[best.start : best.start + len(best.text)] == best.text
    assert best.start > 0


def test_rare_words_count_more_than_frequent_ones(project: Project) -> None:
    for number in range(8):
        add(project, f"harbour{number}.txt", FILLER)
    add(project, "seals.txt", "Seals sleep on the sand.")
    assert names(project, "are the boats of the seals large?")[0] == "seals.txt"
    assert names(project, "the seals") == ["seals.txt"]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("The tide is low.", "tides"),
        ("Die Gezeiten folgen dem Mond.", "Mondes"),
        ("Error E_4711 at start.", "e_4711"),
        ("Größe: 12 m", "größe"),
    ],
)
def test_other_forms_of_a_word_and_names_are_found(project: Project, text: str, query: str) -> None:
    add(project, "a.txt", text)
    add(project, "b.txt", "Nothing of that kind.")
    assert names(project, query) == ["a.txt"]


@pytest.mark.parametrize(
    "query",
    [
        "",
        "  ",
        "?!",
        "' | \\ & !() :* <->",
        "\u2028",
        "zebra",
        "http://sea.example/a\\b'c?d=\\'e",
        "C:\\sea\\it's",
    ],
)
def test_what_is_not_there_is_not_found(project: Project, query: str) -> None:
    add(project, "a.txt", "The tide is low.")
    assert names(project, query) == []


def test_only_ready_texts_of_this_project_and_owner_are_searched(project: Project, alice: Any) -> None:
    bob = factories.create_user("bob")
    add(project, "processing.txt", "tide", status="processing")
    add(project, "theirs.txt", "tide", owner=bob)
    add(Project.objects.create(owner=alice, name="Other"), "other.txt", "tide")
    File.objects.create(owner=alice, name="none.txt", text="tide", status="ready")
    assert names(project, "tide") == []
    own = add(project, "own.txt", "tide")
    assert names(project, "tide") == ["own.txt"]
    File.objects.filter(pk=own.pk).update(project=None)
    assert names(project, "tide") == []
    own.delete()
    assert not Chunk.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_searches_side_by_side_store_each_passage_once(project: Project) -> None:
    add(project, "a.txt", FILLER * 5)
    found = run_concurrently(*[lambda: names(project, "harbour")] * 4)
    assert [len(one) for one in found] == [len(found[0])] * 4
    positions = list(Chunk.objects.values_list("position", flat=True))
    assert positions == list(range(len(positions)))
    connections.close_all()


def test_a_query_without_a_direction_is_searched_by_words_alone(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "usable_embedder", object)
    monkeypatch.setattr(search, "embedder_of", lambda _: SimpleNamespace(embed_query=lambda _: [0.0, 0.0]))
    model = EmbeddingModel.objects.create(name="zero", dimensions=2)
    monkeypatch.setattr(EmbeddingModel.objects, "serving", lambda: model, raising=False)
    assert search.embed_query("tides") is None


@pytest.mark.parametrize("has_vectors", [False, True])
def test_a_passage_of_several_documents_is_found_once(project: Project, has_vectors: bool) -> None:
    for name in ("first.txt", "second.txt", "third.txt"):
        add(project, name, "Spring tides follow the new moon.")
    add(project, "other.txt", "Neap tides follow the half moon.")
    if not has_vectors:
        EmbeddingModel.objects.all().delete()
    found = [chunk.text for chunk in search_files(files_of(project), "tides after the moon", 10)]
    assert sorted(found) == ["Neap tides follow the half moon.", "Spring tides follow the new moon."]
