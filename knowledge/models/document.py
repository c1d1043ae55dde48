"""Document: a file of a knowledge base, whose versions follow one another under one id."""

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
from knowledge.models.served_version import ServedVersion

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.contrib.auth.models import User


def hash_given(content_type: str, content: Iterable[bytes]) -> bytes:
    """SHA-256 of what is given of a document. The same bytes of another type are read in another way: a table, or plain text."""
    digest = sha256(f"{content_type}\n".encode())
    for part in content:
        digest.update(part)
    return digest.digest()


class DocumentVersion(NamedTuple):
    """What was given of a document.

    content: the path in the storage; empty: it is to be read from `url`.  content_hash: hash_given; None: not known yet.
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
        """Delete them with their chunks and vectors, beside workers that compute these; return how many."""
        with transaction.atomic():
            held = list(self.order_by("pk").select_for_update(of=("self",)).values_list("pk", flat=True))
            ChunkVector.objects.filter(chunk__file__in=held).lock_in_order()
            Document.objects.filter(pk__in=held).delete()
        return len(held)

    # Queries

    def readable_by(self, user: User | int) -> Self:
        """Those of bases that the user may read."""
        return self.filter(knowledge_base__in=KnowledgeBase.objects.readable_by(user))


class DocumentManager(models.Manager.from_queryset(DocumentQuerySet)):  # type: ignore[misc]
    def get_queryset(self) -> DocumentQuerySet:
        documents: DocumentQuerySet = super().get_queryset()
        return documents.filter(knowledge_base__isnull=False)


class Document(File):
    """A row of the table of files. The version that was whole last is found until the new one is, also if that fails."""

    objects: ClassVar[Any] = DocumentManager()

    class Meta:
        proxy = True
        default_permissions = ()

    # Mutators: False if the row was deleted, or has moved on

    def rename(self, name: str) -> bool:
        """Both the version that is served and the one that was given last."""
        with transaction.atomic():
            is_renamed = self.rename_given(name)
            ServedVersion.objects.of(self).update(name=name)
        return is_renamed

    def rename_given(self, name: str) -> bool:
        """The version that was given last."""
        return bool(self._rows().update(name=name))

    def replace(self, version: DocumentVersion) -> bool:
        """Return to the queue with another content; the version that is whole is served until the new one is. A worker that
        holds the row loses it.
        """
        with transaction.atomic():
            row = self._rows().select_for_update(no_key=True, of=("self",)).defer("text").first()
            if row is None:
                return False
            if row.chunks_version is not None:
                ServedVersion.objects.keep(row)
            return self._queue(version)

    def _queue(self, version: DocumentVersion) -> bool:
        fields = version._asdict()
        if not version.content:
            # Of a version that was whole: if the new one is the same, nothing is read again.
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
        """Keep what was read from the URL, under this attempt: the next one does not read it again."""
        fields = version._asdict()
        del fields["name"], fields["url"]
        return bool(self._as_held().update(**fields))

    # Properties

    @property
    def shown(self) -> File | ServedVersion:
        """What members see of it: the version that is whole, if there is one."""
        return getattr(self, "served", None) or self

    def is_found_with(self, content_hash: bytes) -> bool:
        """Whether the version that searches find, or that is being read, has this content."""
        known = self.content_hash and bytes(self.content_hash)
        return known == content_hash and self.status != FileStatus.FAILED

    def is_unchanged_by(self, content_hash: bytes | None) -> bool:
        """Whether a version with this content (None: of a URL) is none. What was read from a URL is replaced by any other."""
        return bool(content_hash and not self.url and self.is_found_with(content_hash))

    def _rows(self) -> DocumentQuerySet:
        rows: DocumentQuerySet = type(self).objects.filter(pk=self.pk)
        return rows
