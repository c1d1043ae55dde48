"""Files whose text has been indexed, and their next versions, as the ingest process stores them."""

from typing import Any

from django.db.models.functions import Now

from knowledge.indexing import delete_stale_chunks, store_chunks, store_missing_chunks
from knowledge.models import Extraction, File, FileKind, FileStatus, Project


def add_indexed(project: Project, name: str, text: str, **fields: Any) -> File:
    given = {"owner": project.owner, "status": FileStatus.READY}
    file = File.objects.create(project=project, name=name, text=text, **given | fields)
    store_missing_chunks(File.objects.filter(pk=file.pk))
    return file


def claim_again(file: File) -> File:
    """As a worker has it that reads a file again which has ended."""
    File.objects.filter(pk=file.pk).update(status=FileStatus.PROCESSING, ended_at=None, queued_at=Now())
    held = File.objects.claim(file.pk)
    assert held is not None
    return held


def index_again(file: File, text: str) -> None:
    """Replace the text."""
    held = claim_again(file)
    assert all(store_chunks(held, text))
    assert end_with(held, text)
    delete_stale_chunks(file.pk)


def end_with(held: File, text: str) -> bool:
    """Let the chunks be found that are stored."""
    return held.end_ready(Extraction(FileKind.TEXT, "text/plain", text), has_chunks=True)
