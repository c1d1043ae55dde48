"""Files whose text has been indexed, and their next versions, as the ingest process stores them."""

from typing import Any

from django.db.models.functions import Now

from knowledge.models import Extraction, File, FileKind, FileStatus, KnowledgeBase, Project
from knowledge.search.indexing import delete_stale_chunks, store_chunks, store_missing_chunks


def add_indexed(place: Project | KnowledgeBase, name: str, text: str, **fields: Any) -> File:
    """A file of a project, or a document of a knowledge base."""
    noun = "project" if isinstance(place, Project) else "knowledge_base"
    given = {noun: place, "owner": place.owner, "status": FileStatus.READY}
    file = File.objects.create(name=name, text=text, **given | fields)
    store_missing_chunks(File.objects.filter(pk=file.pk))
    return file


def claim_again(file: File) -> File:
    """As a worker has it that reads a file again which has ended."""
    waiting = {"status": FileStatus.PROCESSING, "ended_at": None, "lease_until": None, "error_code": ""}
    File.objects.filter(pk=file.pk).update(has_stale_chunks=True, queued_at=Now(), **waiting)
    held = File.objects.claim(file.pk)
    assert held is not None
    return held


def index_again(file: File, text: str) -> None:
    """Replace the text."""
    index_held(claim_again(file), Extraction(FileKind.TEXT, "text/plain", text))


def index_held(held: File, found: Extraction) -> None:
    assert all(store_chunks(held, found.text, found.notes_length))
    assert held.end_ready(found, has_chunks=True)
    delete_stale_chunks(held.pk)
