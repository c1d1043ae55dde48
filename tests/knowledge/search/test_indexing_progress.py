"""How far files have been indexed: files by status, chunks, and vectors that are still to be computed."""

from typing import Any

import pytest

from ingest.vectors import compute_waiting
from knowledge.models import File, Project
from knowledge.search.indexing import IndexingProgress, indexing_progress, is_indexing
from tests import factories
from tests.indexed import add_indexed, claim_again
from tests.upstream_embeddings import REFUSED

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("embeddings_upstream")]


@pytest.fixture
def project() -> Project:
    return Project.objects.create(owner=factories.create_user("alice"), name="Tides")


def progress_of(project: Project) -> IndexingProgress:
    files = File.objects.filter(project=project)
    found = indexing_progress(files)
    assert found.is_complete != is_indexing(files)
    return found


def test_files_chunks_and_waiting_vectors_are_counted_until_all_are_there(project: Project) -> None:
    assert progress_of(project) == IndexingProgress(0, 0, 0, 0, 0)
    add_indexed(project, "moon.txt", "The moon pulls the sea.")
    assert progress_of(project) == IndexingProgress(0, 1, 0, chunks=1, vectors_waiting=1)
    compute_waiting()
    assert progress_of(project) == IndexingProgress(0, 1, 0, chunks=1, vectors_waiting=0)
    new = File.objects.create(project=project, owner=project.owner, name="new.txt", status="processing")
    assert progress_of(project) == IndexingProgress(1, 1, 0, chunks=1, vectors_waiting=0)
    File.objects.filter(pk=new.pk).update(status="failed", error_code="document_corrupt")
    add_indexed(project, "seal.txt", "Seals sleep.")
    assert progress_of(project) == IndexingProgress(0, 2, 1, chunks=2, vectors_waiting=1)


def test_a_text_that_gets_no_vector_is_not_waited_for(project: Project) -> None:
    add_indexed(project, "moon.txt", f"{REFUSED} moon")
    compute_waiting()
    assert progress_of(project) == IndexingProgress(0, 1, 0, chunks=1, vectors_waiting=0)


def test_without_a_model_no_vector_is_waited_for(project: Project, settings: Any) -> None:
    settings.EMBEDDINGS_BASE_URL = settings.EMBEDDINGS_MODEL = ""
    add_indexed(project, "moon.txt", "The moon pulls the sea.")
    assert progress_of(project) == IndexingProgress(0, 1, 0, chunks=1, vectors_waiting=0)


def test_other_files_and_chunks_that_are_not_found_are_not_counted(project: Project) -> None:
    other = Project.objects.create(owner=factories.create_user("bob"), name="Theirs")
    add_indexed(other, "theirs.txt", "Bread is baked.")
    File.objects.create(project=project, owner=project.owner, name="a.png", kind="image", status="failed",
                        error_code="image_limits")  # fmt: skip
    file = add_indexed(project, "moon.txt", "The moon pulls the sea.")
    claim_again(file)
    assert progress_of(project) == IndexingProgress(1, 0, 1, chunks=1, vectors_waiting=1)
