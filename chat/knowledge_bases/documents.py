"""Documents of a knowledge base: add, replace, rename, delete.

Their contents are in the storage already, or are fetched later.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.models import User
from django.db import transaction

from chat.events import knowledge_bases as events
from chat.infrastructure.after_commit import call_after_commit
from chat.models import StoredBytes
from chat.protocol.errors import ApiError
from chat.runs import quotas
from chat.runs.task_queue import enqueue_file
from knowledge.files import blobs
from knowledge.models import Document, DocumentVersion, FileStatus, KnowledgeBase, KnowledgeBaseMember
from knowledge.models.knowledge_base import EDITING


def add_document(base: KnowledgeBase, actor: User, version: DocumentVersion) -> Document:
    """Store a document and have its text extracted. Raises ApiError; then nothing is stored."""
    with _as_editor(base, actor):
        quotas.check_documents(base)
        check_room(base, version.size_bytes)
        document = Document(pk=uuid.uuid4(), owner_id=base.owner_id, knowledge_base=base, **version._asdict())
        Document.objects.bulk_create([document])
        _read_on_commit(document)
    return document


def replace_document(document: Document, actor: User, version: DocumentVersion) -> Document:
    """Replace a document: searches find the old version until the new one is read. Raises ApiError without a change.

    The same content costs nothing, but may get another title.
    """
    base = _base_of(document)
    with _as_editor(base, actor):
        # Locked through the base, whose lock all changes of its documents hold; its worker goes on meanwhile.
        document = _reread(document)
        if document.is_unchanged_by(version.content_hash):
            document.rename_given(version.name)
        else:
            has_ended = document.status != FileStatus.PROCESSING
            check_room(base, version.size_bytes - document.size_bytes, int(has_ended))
            document.replace(version)
            _read_on_commit(document)
    blobs.purge_on_commit()
    return _reread(document)


def rename_version(document: Document, actor: User, name: str) -> Document:
    """Rename the version that was given last, and not an older one that is still served. Raises ApiError."""
    with _as_editor(_base_of(document), actor):
        if not document.rename_given(name):
            raise ApiError("document_not_found")
    return _reread(document)


def rename_document(document: Document, actor: User, name: str) -> Document:
    """Rename a document: both the version that is served and the one that was given last. Raises ApiError."""
    with _as_editor(_base_of(document), actor):
        if not document.rename(name):
            raise ApiError("document_not_found")
    return _reread(document)


def delete_document(document: Document, actor: User) -> None:
    """Delete a document with its chunks and vectors. Raises ApiError."""
    with _as_editor(_base_of(document), actor):
        Document.objects.filter(pk=document.pk).delete_whole()
    blobs.purge_on_commit()


def check_room(base: KnowledgeBase, size: int, waiting: int = 1) -> None:
    """Raise ApiError if the base's owner may not store `size` more bytes or more chunks, or have more documents wait.
    waiting: the number of documents that would wait."""
    quotas.WAITING_FILES.check(base.owner, waiting)
    quotas.check_chunks(base.owner_id)
    quotas.check_storage(base.owner_id, StoredBytes.objects.sum_of(base.owner_id), size)


@contextmanager
def _as_editor(base: KnowledgeBase, actor: User) -> Iterator[None]:
    """Open a transaction in which only `actor`, an editor, changes the base. Tell its readers after the commit."""
    with transaction.atomic():
        if not base.change():
            raise ApiError("knowledge_base_not_found")
        # Read again: the base may have got another owner while the content was received.
        base.refresh_from_db(fields=["owner"])
        # Documents count for the owner: of two simultaneous uploads that fit one by one only, one is refused.
        quotas.lock_user(base.owner)
        role = KnowledgeBaseMember.objects.roles_of(actor, [base.pk]).get(base.pk)
        if role not in EDITING:
            raise ApiError("not_allowed" if role else "knowledge_base_not_found")
        yield
        call_after_commit(events.publish_content_changed, base.pk)


def _base_of(document: Document) -> KnowledgeBase:
    base = document.knowledge_base
    if base is None:  # a file of no base
        raise ApiError("document_not_found")
    return base


def _reread(document: Document) -> Document:
    found: Document | None = (
        Document.objects.filter(pk=document.pk).select_related("served").defer("text").first()
    )
    if found is None:
        raise ApiError("document_not_found")
    return found


def _read_on_commit(document: Document) -> None:
    # robust: the row is stored, and the sweeper finds it.
    call_after_commit(enqueue_file, str(document.pk))
