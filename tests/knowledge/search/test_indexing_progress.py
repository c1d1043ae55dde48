"""Whether searches of files will find more later: texts that are being read, and vectors that are still to be computed."""

from typing import Any

import pytest

from ingest.vectors import compute_waiting
from knowledge.models import File, Project
from knowledge.search.indexing import chunks_without_vector, is_indexing
from tests import factories
from tests.indexed import add_indexed, claim_again
from tests.upstream_embeddings import REFUSED

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("embeddings_upstream")]


@pytest.fixture
def project() -> Project:
    return Project.objects.create(owner=factories.create_user("alice"), name="Tides")


def waiting_vectors(project: Project) -> int:
    return chunks_without_vector(File.objects.filter(project=project)).count()


def will_find_more(project: Project) -> bool:
    return is_indexing(File.objects.filter(project=project))


def test_vectors_and_files_are_waited_for_until_all_are_there(project: Project) -> None:
    assert (waiting_vectors(project), will_find_more(project)) == (0, False)
    add_indexed(project, "moon.txt", "The moon pulls the sea.")
    assert (waiting_vectors(project), will_find_more(project)) == (1, True)
    compute_waiting()
    assert (waiting_vectors(project), will_find_more(project)) == (0, False)
    new = File.objects.create(project=project, owner=project.owner, name="new.txt", status="processing")
    assert (waiting_vectors(project), will_find_more(project)) == (0, True)
    File.objects.filter(pk=new.pk).update(status="failed", error_code="document_corrupt")
    add_indexed(project, "seal.txt", "Seals sleep.")
    assert (waiting_vectors(project), will_find_more(project)) == (1, True)


def test_a_text_that_gets_no_vector_is_not_waited_for(project: Project) -> None:
    add_indexed(project, "moon.txt", f"{REFUSED} moon")
    compute_waiting()
    assert (waiting_vectors(project), will_find_more(project)) == (0, False)


def test_without_a_model_no_vector_is_waited_for(project: Project, settings: Any) -> None:
    settings.EMBEDDINGS_BASE_URL = settings.EMBEDDINGS_MODEL = ""
    add_indexed(project, "moon.txt", "The moon pulls the sea.")
    assert (waiting_vectors(project), will_find_more(project)) == (0, False)


def test_other_files_and_chunks_that_are_not_found_are_not_counted(project: Project) -> None:
    other = Project.objects.create(owner=factories.create_user("bob"), name="Theirs")
    add_indexed(other, "theirs.txt", "Bread is baked.")
    File.objects.create(project=project, owner=project.owner, name="a.png", kind="image", status="failed",
                        error_code="image_limits")  # fmt: skip
    file = add_indexed(project, "moon.txt", "The moon pulls the sea.")
    claim_again(file)
    assert (waiting_vectors(project), will_find_more(project)) == (1, True)
