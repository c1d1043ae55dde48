"""The chunks of a text are found as a whole or not at all, whoever stores them, dies meanwhile, or reads the file again."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest

from chat.sweeper import files as swept_files
from ingest.vectors import compute_waiting
from knowledge.models import Chunk, Extraction, File, FileKind, Project, chunk
from knowledge.search import indexing
from knowledge.search.hybrid_search import search_files
from knowledge.search.indexing import store_chunks
from tests import factories
from tests.indexed import add_indexed, claim_again, index_again
from tests.upstream import Upstream

pytestmark = pytest.mark.django_db(transaction=True)

OLD = "\n\n".join(f"Seals sleep, {number}. " * 80 for number in range(7))
NEW = "\n\n".join(f"Bread is baked, {number}. " * 70 for number in range(9))


@pytest.fixture(autouse=True)
def batch(monkeypatch: pytest.MonkeyPatch) -> int:
    """Several transactions for each of the texts."""
    for module in (chunk, indexing):
        monkeypatch.setattr(module, "BATCH", 2)
    return 2


@pytest.fixture
def project() -> Project:
    return Project.objects.create(owner=factories.create_user("alice"), name="Tides")


def found(project: Project, query: str = "seals bread sleep baked") -> list[str]:
    chunks = search_files(File.objects.filter(project=project), query, 50)
    return [one.text for one in sorted(chunks, key=lambda one: one.start)]


def texts_of(text: str) -> list[str]:
    return [part for _, part in indexing.split_chunks(text)]


def end(held: File, text: str) -> None:
    assert held.end_ready(Extraction(FileKind.TEXT, "text/plain", text), has_chunks=True)


def positions(file: File) -> list[int]:
    return list(Chunk.objects.filter(file=file).order_by("position").values_list("position", flat=True))


def sweep() -> None:
    while swept_files.delete_stale_chunks():
        pass
    assert not File.objects.with_stale_chunks().exists()


def test_searches_find_the_old_version_whole_until_the_new_one_is(project: Project) -> None:
    file = add_indexed(project, "a.txt", OLD)
    held = claim_again(file)
    before, after = texts_of(OLD), texts_of(NEW)
    assert found(project) == before
    for is_stored in store_chunks(held, NEW):
        assert is_stored
        assert found(project) == before
    end(held, NEW)
    assert found(project) == after
    while Chunk.objects.delete_stale(file.pk):
        assert found(project) == after
    assert positions(file) == list(range(len(after)))


def test_an_attempt_that_another_replaced_stores_no_more_and_is_never_found(project: Project) -> None:
    file = add_indexed(project, "a.txt", OLD)
    held = claim_again(file)
    storing = store_chunks(held, NEW)
    assert next(storing)
    second = claim_again(file)
    assert list(storing) == [False]
    assert found(project) == texts_of(OLD)
    assert all(store_chunks(second, NEW))
    end(second, NEW)
    assert found(project) == texts_of(NEW)
    sweep()
    assert positions(file) == list(range(len(texts_of(NEW))))


def test_the_sweeper_deletes_what_a_dead_process_has_left_and_nothing_that_is_being_stored(
    project: Project,
) -> None:
    file = add_indexed(project, "a.txt", OLD)
    held = claim_again(file)
    assert list(islice(store_chunks(held, NEW), 2)) == [True, True]
    begun = Chunk.objects.count()
    assert swept_files.delete_stale_chunks() == 0
    assert Chunk.objects.count() == begun == len(texts_of(OLD)) + 4
    assert held.end_failed("file_unreadable")
    sweep()
    assert Chunk.objects.count() == len(texts_of(OLD))
    assert found(project) == []
    index_again(file, NEW)
    assert found(project) == texts_of(NEW)
    assert positions(file) == list(range(len(texts_of(NEW))))


def test_a_search_that_dies_while_it_stores_missing_chunks_is_completed_by_the_next(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = File.objects.create(project=project, owner=project.owner, name="a.txt", text=OLD, status="ready")

    def die_after_two(*given: Any) -> Iterator[bool]:
        yield from islice(store_chunks(*given), 2)
        raise ConnectionResetError

    with monkeypatch.context() as dying:
        dying.setattr(indexing, "store_chunks", die_after_two)
        with pytest.raises(ConnectionResetError):
            found(project)
    assert positions(file) == [0, 1, 2, 3]
    sweep()
    assert positions(file) == [0, 1, 2, 3]
    with monkeypatch.context() as idle:
        idle.setattr("knowledge.search.hybrid_search.store_missing_chunks", lambda _: None)
        assert found(project) == []
    assert found(project) == texts_of(OLD)
    assert positions(file) == list(range(len(texts_of(OLD))))


def test_missing_chunks_of_a_text_that_is_read_again_meanwhile_are_given_up(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = File.objects.create(project=project, owner=project.owner, name="a.txt", text=OLD, status="ready")

    def read_again_after_the_first(*given: Any) -> Iterator[bool]:
        storing = store_chunks(*given)
        yield next(storing)
        index_again(file, NEW)
        yield from storing

    with monkeypatch.context() as meanwhile:
        meanwhile.setattr(indexing, "store_chunks", read_again_after_the_first)
        assert found(project) == texts_of(NEW)
    sweep()
    assert positions(file) == list(range(len(texts_of(NEW))))


def test_what_was_read_without_a_project_has_no_chunks_of_the_text_before(project: Project) -> None:
    file = add_indexed(project, "a.txt", OLD)
    assert file.leave(project)
    held = claim_again(file)
    assert held.end_ready(Extraction(FileKind.TEXT, "text/plain", NEW))
    assert file.join(project)
    assert found(project) == texts_of(NEW)
    sweep()
    assert positions(file) == list(range(len(texts_of(NEW))))


def test_equal_chunks_have_their_vectors_before_they_are_found(project: Project, settings: Any) -> None:
    with Upstream() as upstream:
        settings.EMBEDDINGS_BASE_URL, settings.EMBEDDINGS_MODEL = upstream.base_url, "sea"
        file = add_indexed(project, "a.txt", OLD)
        compute_waiting()
        asked = len(upstream.embeddings.texts)
        held = claim_again(file)
        assert all(store_chunks(held, OLD))
        assert not Chunk.objects.filter(version=held.attempt, vectors__vector=None).exists()
        end(held, OLD)
        compute_waiting()
        assert len(upstream.embeddings.texts) == asked
