"""A file is found from when it is ready: its words keep places until it has vectors, which those of older files would fill."""

from typing import Any, Final

import pytest

from ingest.vectors import compute_waiting
from knowledge.models import File, Project
from knowledge.search.hybrid_search import search_files
from llm_worker.loading.sources import LIMIT
from tests import factories
from tests.indexed import add_indexed

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("embeddings_upstream")]

# A subject, its text, and words that no file has.
SUBJECTS: Final = [
    "lighthouse", "ferry", "kiln", "orchard", "quarry", "bakery", "beehive", "tannery", "windmill", "smithy",
    "vineyard", "sawmill", "brewery", "foundry", "dairy", "pottery", "library", "theatre", "granary", "cannery",
]  # fmt: skip
UNKNOWN: Final = "schedule yesterday"


@pytest.fixture
def project() -> Project:
    return Project.objects.create(owner=factories.create_user("alice"), name="Village")


def search(project: Project, query: str) -> Any:
    return search_files(File.objects.filter(project=project, owner=project.owner), query, LIMIT)


def add_older(project: Project, count: int) -> None:
    """With vectors."""
    for number in range(count):
        add_indexed(project, f"old{number}.txt", f"The tide of the moon pulls harbour number {number}.")
    compute_waiting()


@pytest.mark.parametrize("extra", [UNKNOWN.split()[0], UNKNOWN])
def test_questions_with_words_too_many_find_each_new_file_before_and_after_it_has_vectors(
    project: Project, extra: str
) -> None:
    add_older(project, 2 * LIMIT)
    for subject in SUBJECTS:
        add_indexed(project, f"{subject}.txt", f"The {subject} opens at nine, and it is closed in winter.")
    questions = {f"{subject}.txt": f"When does the {subject} open, {extra}?" for subject in SUBJECTS}

    def found() -> set[str]:
        return {name for name, question in questions.items() if name in names(search(project, question))}

    before = found()
    compute_waiting()
    assert (before, found()) == (set(questions), set(questions))


def test_every_third_place_is_kept_for_words_while_vectors_lack(project: Project) -> None:
    """In the order of their words; the scores that are told fall with the places."""
    add_older(project, 2 * LIMIT)
    for number in range(3):
        add_indexed(project, f"new{number}.txt", f"A kiln {'kiln ' * (3 - number)}is hot.")
    found = search(project, "kiln tides schedule yesterday moon")
    assert [name for name in names(found) if name.startswith("new")] == ["new0.txt", "new1.txt"]
    assert [names(found).index(f"new{number}.txt") for number in range(2)] == [2, 5]
    scores = [chunk.score for chunk in found]
    assert scores == sorted(scores, reverse=True)


def names(found: Any) -> list[str]:
    return [chunk.name for chunk in found]
