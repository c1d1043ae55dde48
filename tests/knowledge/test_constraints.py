"""The database itself refuses what must never be: every named constraint, by name."""

from collections.abc import Callable
from typing import Any

import pytest
from django.apps import apps
from django.db import IntegrityError, transaction
from django.utils import timezone

from knowledge.models import (
    Chunk,
    ChunkVector,
    EmbeddingModel,
    File,
    KnowledgeBase,
    KnowledgeBaseMember,
    Project,
)
from tests import factories

pytestmark = pytest.mark.django_db


def file(**fields: Any) -> Callable[[Any], Any]:
    return lambda alice: File.objects.create(owner=alice, name="tides.txt", **fields)


def chunks(**fields: Any) -> Callable[[Any], Any]:
    def create(alice: Any) -> Any:
        given = {
            "file": file()(alice),
            "version": 0,
            "position": 0,
            "start": 0,
            "text": "Low.",
            "content_hash": b"1",
            "language": "simple",
        }
        return [Chunk.objects.create(**given | fields) for _ in range(2)]

    return create


def vectors(**fields: Any) -> Callable[[Any], Any]:
    def create(alice: Any) -> Any:
        chunk = Chunk.objects.create(
            file=file()(alice),
            version=0,
            position=0,
            start=0,
            text="Low.",
            content_hash=b"1",
            language="simple",
        )
        model = EmbeddingModel.objects.create(name="sea", dimensions=1)
        return [ChunkVector.objects.create(chunk=chunk, model=model, **fields) for _ in range(2)]

    return create


def document_of_a_project(alice: Any) -> Any:
    base = KnowledgeBase.objects.start(alice, name="Sea")
    return file(knowledge_base=base, project=Project.objects.create(owner=alice, name="Tides"))(alice)


def member(**fields: Any) -> Callable[[Any], Any]:
    """Of a base that alice owns already."""
    return lambda alice: KnowledgeBaseMember.objects.create(
        knowledge_base=KnowledgeBase.objects.start(alice, name="Sea"), user=alice, **fields
    )


REFUSED: dict[str, Callable[[Any], Any]] = {
    "knowledge_base_has_a_name": lambda alice: KnowledgeBase.objects.create(owner=alice, name=""),
    "one_membership_per_user": member(role="reader"),
    "member_role_known": member(role="captain"),
    "document_is_in_no_project": document_of_a_project,
    "project_has_a_name": lambda alice: Project.objects.create(owner=alice, name=""),
    "file_kind_known": file(kind="sound"),
    "file_status_known": file(status="lost"),
    "file_sizes_not_negative": file(size_bytes=-1),
    "file_has_an_error_iff_failed": file(status="failed"),
    "one_chunk_per_position": chunks(),
    "chunk_place_not_negative": chunks(start=-1),
    "chunk_language_known": chunks(language="x"),
    "embedding_has_dimensions": lambda _: EmbeddingModel.objects.create(name="sea", dimensions=0),
    "one_vector_per_model": vectors(),
    "vector_or_error": vectors(vector=[1.0], error="refused"),
    "ready_picture_has_its_size": file(kind="image", status="ready", width_px=10),
    "leased_file_is_processing": file(status="ready", attempt=1, lease_until=timezone.now()),
    "processing_file_has_no_end": file(ended_at=timezone.now()),
    "file_attempts_not_negative": file(attempt=-1),
    "only_pictures_have_thumbnails": file(thumbnail="files/x"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_the_database_refuses(name: str) -> None:
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        REFUSED[name](factories.create_user("alice"))
    assert caught.value.__cause__.diag.constraint_name == name  # type: ignore[union-attr]


def test_every_constraint_has_its_case() -> None:
    declared = {
        one.name for model in apps.get_app_config("knowledge").get_models() for one in model._meta.constraints
    }
    assert set(REFUSED) == declared


def test_what_is_uploaded_is_never_stored_under_its_own_name(settings: Any, tmp_path: Any) -> None:
    from django.core.files.base import ContentFile

    settings.MEDIA_ROOT = tmp_path
    kept = File.objects.create(
        owner=factories.create_user("alice"),
        name="../../x",
        content=ContentFile(b"Two tides a day.", name="../../x"),
    )
    assert kept.content.name == f"files/{kept.pk}"
    assert (tmp_path / "files" / str(kept.pk)).read_bytes() == b"Two tides a day."


def test_files_outlive_their_project_and_not_their_owner() -> None:
    alice = factories.create_user("alice")
    project = Project.objects.create(owner=alice, name="Tides")
    kept = File.objects.create(owner=alice, name="tides.txt", project=project)
    project.delete()
    kept.refresh_from_db()
    assert kept.project is None
    alice.delete()
    assert not File.objects.exists()
