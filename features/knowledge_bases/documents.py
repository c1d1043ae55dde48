"""Documents of a knowledge base: read where they come from, add, replace, rename, delete.

A source is a text, a file, a copy of an own upload, or a URL, whose content is fetched later. Other contents are stored
before their rows.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Final

from django.contrib.auth.models import User
from django.db import transaction

from chat.events import knowledge_bases as events
from chat.infrastructure.background import call_after_commit
from chat.models import StoredBytes
from chat.protocol.errors import ApiError
from chat.runs import quotas
from chat.runs.task_queue import enqueue_file
from knowledge.files import blobs
from knowledge.files.file_types import MAX_CHARACTERS
from knowledge.models import Document, DocumentVersion, File, FileStatus, KnowledgeBase, KnowledgeBaseMember
from knowledge.models.document import hash_given
from knowledge.models.knowledge_base import EDITING
from web.rest.api_view import get_own_row
from web.rest.uploads import UploadedContent, describe_upload, store_content

_HASHED_BYTES: Final = 256 * 1024  # at a time


@dataclass(frozen=True)
class DocumentSource:
    """A source with either `upload` or `url`. row: the unstored row of the upload, with its name and content type."""

    title: str
    upload: UploadedContent | None = None
    row: File | None = None
    url: str = ""

    @property
    def size(self) -> int:
        return self.upload.size if self.upload else 0

    @cached_property
    def hash(self) -> bytes | None:
        """The hash of the content; None for a URL, whose content is not known yet."""
        if self.upload is None or self.row is None:
            return None
        self.upload.content.seek(0)
        parts = iter(partial(self.upload.content.read, _HASHED_BYTES), b"")
        return hash_given(self.row.content_type, parts)


def read_source(user: User, data: dict[str, Any]) -> DocumentSource:
    """Return the source from a form or a valid body, in which a text has a title. Raises ApiError."""
    if isinstance(data.get("file"), UploadedContent):
        return _of_form(user, data)
    if "text" in data:
        return _of_text(user, data["title"], data["text"])
    if "url" in data:
        url = data["url"].strip()
        return DocumentSource(data.get("title") or url[:MAX_CHARACTERS], url=url)
    return _of_own_file(user, str(data["file"]), data.get("title"))


def store_source(source: DocumentSource) -> DocumentVersion:
    """Store the content; without its row, stored later, the sweeper deletes it. Raises ApiError."""
    if source.upload is None or source.row is None:
        return DocumentVersion(source.title, url=source.url)
    store_content(source.upload, source.row)
    return DocumentVersion(
        source.title,
        source.row.content_type,
        source.upload.size,
        str(source.row.content.name),
        source.hash,
    )


def _of_form(user: User, form: dict[str, Any]) -> DocumentSource:
    for name in form:
        if name not in ("file", "title"):
            raise ApiError("unknown_field", field=name[:100])
    row = describe_upload(user, form["file"])
    title = form.get("title", row.name)
    if not title.strip() or len(title) > MAX_CHARACTERS:
        raise ApiError("invalid_value", field="title")
    return DocumentSource(title, form["file"], row)


def _of_text(user: User, title: str, text: str) -> DocumentSource:
    upload = UploadedContent(title)
    upload.write(text.encode())
    return DocumentSource(title, upload, File(owner=user, name=title, content_type="text/markdown"))


def _of_own_file(user: User, pk: str, title: str | None) -> DocumentSource:
    """Return a copy of an own upload, so that later changes of the upload do not matter. Raises ApiError."""
    own = get_own_row(File.objects.visible_to(user).defer("text"), pk, "file", field="file")
    upload = UploadedContent(own.name)
    try:
        for chunk in blobs.read(str(own.content.name)) if own.content else ():
            upload.write(chunk)
    except FileNotFoundError:
        raise ApiError("file_not_found", field="file") from None
    except OSError:
        raise ApiError("file_storage_unavailable") from None
    if not upload.size:
        raise ApiError("file_not_found", field="file")
    row = File(owner=user, name=own.name, content_type=own.content_type)
    return DocumentSource(title or own.name, upload, row)


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
