"""Searching the texts of a project by words."""

from typing import Any

import pytest
from django.db import connections

from knowledge import search
from knowledge.models import File, FilePassage, Project
from knowledge.search import search_project
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


def names(project: Project, query: str) -> list[str]:
    return [found.name for found in search_project(project.pk, project.owner_id, query, 10)]


def test_the_passage_that_says_it_is_found_with_its_place(project: Project) -> None:
    text = FILLER + "\n\nSpring tides follow the new moon.\n\n" + FILLER
    file = add(project, "tides.txt", text)
    best = search_project(project.pk, project.owner_id, "when do spring tides come?", 3)[0]
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
    assert not FilePassage.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_searches_side_by_side_store_each_passage_once(project: Project) -> None:
    add(project, "a.txt", FILLER * 5)
    found = run_concurrently(*[lambda: names(project, "harbour")] * 4)
    assert [len(one) for one in found] == [len(found[0])] * 4
    positions = list(FilePassage.objects.values_list("position", flat=True))
    assert positions == list(range(len(positions)))
    connections.close_all()


def test_a_text_whose_passages_are_incomplete_is_found_after_the_next_search_alone(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = add(
        project, "tides.txt", "Seals sleep here.\n\n" + FILLER * 4 + "\n\nSpring tides follow the new moon."
    )
    monkeypatch.setattr(search, "BATCH", 2)
    store, calls = search._store_batch, iter(range(9))

    def die_after_two(*args: Any) -> bool:
        if next(calls) == 2:
            raise ConnectionResetError
        return store(*args)

    with monkeypatch.context() as dying:
        dying.setattr(search, "_store_batch", die_after_two)
        with pytest.raises(ConnectionResetError):
            names(project, "new moon")
    places = FilePassage.objects.filter(file=file).order_by("position").values_list("position", flat=True)
    begun = list(places)
    assert begun
    assert 0 not in begun
    with monkeypatch.context() as idle:
        idle.setattr(search, "_store_missing_passages", lambda *_: None)
        assert names(project, "new moon") == []
    assert names(project, "new moon") == names(project, "seals") == ["tides.txt"]
    assert list(places.all()) == list(range(begun[-1] + 1))


def test_passages_of_a_text_that_is_read_again_meanwhile_are_given_up(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = add(project, "tides.txt", FILLER * 4)
    monkeypatch.setattr(search, "BATCH", 1)
    store = search._store_batch

    def read_again_first(*args: Any) -> bool:
        File.objects.filter(pk=file.pk).update(attempt=1)
        return store(*args)

    monkeypatch.setattr(search, "_store_batch", read_again_first)
    assert names(project, "harbour") == []
    assert not FilePassage.objects.exists()
