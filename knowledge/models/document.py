"""Document: a file of a knowledge base, whose successive versions have one id."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Self

from django.db import models, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from knowledge.models.chunk_vector import ChunkVector
from knowledge.models.extraction import FileStatus
from knowledge.models.file import File, FileQuerySet
from knowledge.models.knowledge_base import KnowledgeBase


class ServedVersionQuerySet(models.QuerySet["ServedVersion"]):
    def preserve(self, document: File) -> None:
        """Copy the document's version, which is complete, unless a copy exists already. The caller holds the row."""
        columns = ("name", "url", "content_type", "size_bytes", "content")
        copy = ServedVersion(document_id=document.pk, **{name: getattr(document, name) for name in columns})
        self.bulk_create([copy], ignore_conflicts=True)

    def of_document(self, document: File) -> Self:
        return self.filter(document=document.pk)


class ServedVersion(models.Model):
    """A complete version of a document. The columns are named as in the document's row, which has the latest version.

    A trigger deletes this row when the document becomes ready; another trigger then has the content deleted.
    """

    document = models.OneToOneField(File, primary_key=True, on_delete=models.CASCADE, related_name="served")
    name = models.CharField(max_length=255)
    url = models.TextField(blank=True, default="")
    content_type = models.CharField(max_length=200)
    size_bytes = models.BigIntegerField()
    content = models.FileField(max_length=200, blank=True)

    objects = ServedVersionQuerySet.as_manager()

    def __str__(self) -> str:
        return self.name


if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import User


def hash_given(content_type: str, content: Iterable[bytes]) -> bytes:
    """Compute the SHA-256 of a document's content with its type, because the type decides how the bytes are read."""
    digest = sha256(f"{content_type}\n".encode())
    for part in content:
        digest.update(part)
    return digest.digest()


class DocumentVersion(NamedTuple):
    """A version of a document, as a user supplied it.

    content: the path in the storage; empty: to be read from `url`.  content_hash: from hash_given(); None: unknown yet.
    """

    name: str
    content_type: str = "text/plain"
    size_bytes: int = 0
    content: str = ""
    content_hash: bytes | None = None
    url: str = ""


class DocumentQuerySet(FileQuerySet):
    # Mutators

    def delete_whole(self) -> int:
        """Delete the documents, chunks and vectors, beside workers that compute these; return how many documents."""
        with transaction.atomic():
            held = list(self.order_by("pk").select_for_update(of=("self",)).values_list("pk", flat=True))
            ChunkVector.objects.filter(chunk__file__in=held).lock_in_order()
            Document.objects.filter(pk__in=held).delete()
        return len(held)

    # Queries

    def readable_by(self, user: User | int) -> Self:
        """Filter the documents of bases that the user may read."""
        return self.filter(knowledge_base__in=KnowledgeBase.objects.readable_by(user))


class DocumentManager(models.Manager.from_queryset(DocumentQuerySet)):  # type: ignore[misc]
    def get_queryset(self) -> DocumentQuerySet:
        documents: DocumentQuerySet = super().get_queryset()
        return documents.filter(knowledge_base__isnull=False)


class Document(File):
    """A row of the table of files. Searches find the last complete version until a newer one is complete."""

    objects: ClassVar[Any] = DocumentManager()

    class Meta:
        proxy = True
        default_permissions = ()

    # Mutators: False if the row was deleted, or another attempt holds it

    def rename(self, name: str) -> bool:
        """Rename both the served and the latest version."""
        with transaction.atomic():
            is_renamed = self.rename_given(name)
            ServedVersion.objects.of_document(self).update(name=name)
        return is_renamed

    def rename_given(self, name: str) -> bool:
        """Rename the latest version."""
        return bool(self._rows().update(name=name))

    def replace(self, version: DocumentVersion) -> bool:
        """Return the document to the queue with another content.
        The complete version is served until the new one is complete. A worker that holds the row loses it.
        """
        with transaction.atomic():
            row = self._rows().select_for_update(no_key=True, of=("self",)).defer("text").first()
            if row is None:
                return False
            if row.chunks_version is not None:
                ServedVersion.objects.preserve(row)
            return self._queue(version)

    def _queue(self, version: DocumentVersion) -> bool:
        fields = version._asdict()
        if not version.content:
            # The hash of a complete version stays: if the URL still has the same content, nothing is read again.
            is_whole = Q(status=FileStatus.READY, chunks_version__isnull=False, url=version.url)
            fields["content_hash"] = models.Case(models.When(is_whole, then=F("content_hash")), default=None)
        return bool(
            self._rows().update(
                **fields,
                status=FileStatus.PROCESSING,
                error_code="",
                failures=0,
                lease_until=None,
                queued_at=Now(),
                ended_at=None,
                announced_at=None,
                has_stale_chunks=True,
            )
        )

    def record_fetched(self, version: DocumentVersion) -> bool:
        """Keep the content that this attempt fetched from the URL, so that the next attempt does not fetch it again."""
        fields = version._asdict()
        del fields["name"], fields["url"]
        return bool(self._as_held().update(**fields))

    # Properties

    @property
    def shown(self) -> File | ServedVersion:
        """The version that members see: the complete one, if there is one."""
        return getattr(self, "served", None) or self

    def is_found_with(self, content_hash: bytes) -> bool:
        """Return whether the latest version has this content, and did not fail."""
        known = self.content_hash and bytes(self.content_hash)
        return known == content_hash and self.status != FileStatus.FAILED

    def is_unchanged_by(self, content_hash: bytes | None) -> bool:
        """Return whether a version with this content would change nothing.
        False for None (the version has a URL), and for a document that was read from a URL.
        """
        return bool(content_hash and not self.url and self.is_found_with(content_hash))

    def _rows(self) -> DocumentQuerySet:
        rows: DocumentQuerySet = type(self).objects.filter(pk=self.pk)
        return rows
