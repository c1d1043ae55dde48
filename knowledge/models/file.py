"""File: an upload of a user, or a document of a knowledge base, with the text or picture that models get."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any, Final, Self, TypeVar
from uuid import UUID

from django.conf import settings
from django.db import connection, models, transaction
from django.db.models import Count, F, Q, Value
from django.db.models.functions import Now

from knowledge.models.extraction import Extraction, FileKind, FileStatus
from knowledge.models.knowledge_base import KnowledgeBase
from knowledge.models.owned_row import cascade_unless_document
from knowledge.models.project import Project
from knowledge.models.sql.fair_order import CLAIM_FILE
from knowledge.models.struct_field import StructField
from knowledge.texts.reading import Reading

M = TypeVar("M", bound=models.Model)

# A worker extends the lease while it extracts the text; after the lease, another worker gets the file.
LEASE: Final = timedelta(seconds=15)
# A file that waits longer may have lost its queue message.
UNCLAIMED_FOR: Final = timedelta(seconds=5)
# An end is announced within milliseconds of its commit; after this its worker has crashed.
UNANNOUNCED_FOR: Final = timedelta(seconds=2)


def _slow_files(slots: int) -> dict[str, str | int]:
    """Return which files of an owner leave a slot to others, and how many of them are read at once (decision 0094)."""
    return {"slow_type": "application/pdf" if settings.OCR else "", "most_slow": max(1, slots - 1)}


class FileClaims(models.QuerySet[M]):
    # Mutators

    def claim(self, file_id: UUID | str) -> M | None:
        """Lease a file whose text is to be extracted; None if another worker has it, or it has ended."""
        waiting = self.filter(pk=file_id, status=FileStatus.PROCESSING, lease_until__isnull=True)
        with transaction.atomic():
            unlocked = waiting.select_for_update(skip_locked=True, no_key=True, of=("self",))
            if not unlocked.values_list("pk").first():
                return None
            self.filter(pk=file_id).update(attempt=F("attempt") + 1, lease_until=Now() + LEASE)
            return self.defer("text").get(pk=file_id)

    def claim_next(self, slots: int) -> M | None:
        """Lease the next file: the oldest that waits of the owner with the fewest files in work. None: none waits.
        slots: how many files all processes read at once.
        """
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(CLAIM_FILE, {"lease_s": LEASE.total_seconds(), **_slow_files(slots)})
            claimed = cursor.fetchone()
            return self.defer("text").get(pk=claimed[0]) if claimed else None

    # Queries

    def not_ended(self) -> Self:
        """Filter the files that wait or are in work."""
        return self.filter(status=FileStatus.PROCESSING)

    def abandoned(self) -> Self:
        """Filter the files whose worker has died."""
        return self.filter(status=FileStatus.PROCESSING, lease_until__lt=Now()).defer("text")

    def unclaimed(self) -> Self:
        """Filter the files that no worker has claimed within UNCLAIMED_FOR."""
        waiting = self.filter(status=FileStatus.PROCESSING, lease_until__isnull=True)
        return waiting.filter(queued_at__lt=Now() - UNCLAIMED_FOR)

    def unannounced(self) -> Self:
        """Filter the files whose end was committed but, because of a crash, not published."""
        return self.filter(announced_at__isnull=True, ended_at__lt=Now() - UNANNOUNCED_FOR).defer("text")


# How often a worker extends the lease.
BEAT_S: Final = 3.0
# Workers that may die with a file before it fails.
MAX_FAILURES: Final = 3
# The permission of staff to read the extracted texts of other people's files.
TEXT_PERMISSION: Final = "knowledge.view_file_text"


class FileQuerySet(FileClaims["File"]):
    def with_stale_chunks(self) -> Self:
        """Filter the files with stale chunks that no worker reads. Missing chunks join the version that stays."""
        return self.filter(has_stale_chunks=True).exclude(status=FileStatus.PROCESSING)

    def visible_to(self, user: Any) -> Self:
        """Filter the user's own files, without documents of knowledge bases, pictures of pages and images of tools."""
        return self.downloadable_by(user).filter(is_tool_image=False)

    def downloadable_by(self, user: Any) -> Self:
        """Filter the files that are visible to the user, and the images that tools returned in the user's sessions."""
        return self.filter(owner=user, knowledge_base__isnull=True, page_of__isnull=True)

    def of_session_alone(self, session_id: UUID) -> Self:
        """Filter the files attached to messages of this session, to none of another session, and in no project.

        Pictures of pages go with their document.
        """
        attached = File.objects.filter(
            messages__message__session_id=session_id, project__isnull=True, page_of__isnull=True
        )
        counted = self.filter(pk__in=attached.values("pk"))
        return counted.annotate(sessions=Count("messages__message__session_id", distinct=True)).filter(
            sessions=1
        )


def stored_as(file: File, _name: str) -> str:
    """Return the path in the storage, which has the id, never the name that the user chose."""
    return f"files/{file.pk}"


class File(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=cascade_unless_document, related_name="files"
    )
    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.SET_NULL, related_name="files"
    )
    # The base of a document. Its owner is the document's owner; only members of the base see the document.
    knowledge_base = models.ForeignKey(
        KnowledgeBase, null=True, blank=True, on_delete=models.CASCADE, related_name="documents"
    )
    name = models.CharField(max_length=255, help_text="As it is shown.")
    # The source of a document; empty: it was uploaded as a text or a file.
    url = models.TextField(blank=True, default="", db_default="")
    # SHA-256 of the content and its type, to recognise a new version that is the same.
    content_hash = models.BinaryField(max_length=32, null=True, blank=True)
    content_type = models.CharField(max_length=200, default="text/plain")
    kind = models.CharField(max_length=7, choices=FileKind.choices, default=FileKind.TEXT)
    size_bytes = models.BigIntegerField(default=0)
    content = models.FileField(upload_to=stored_as, blank=True, max_length=200)
    # The path of a small copy of a picture in the storage.
    thumbnail = models.CharField(max_length=200, blank=True, default="", db_default="")
    status = models.CharField(max_length=10, choices=FileStatus.choices, default=FileStatus.PROCESSING)
    error_code = models.CharField(max_length=40, blank=True, default="")
    # The text that models read and its tokens in the default encoding; for images width_px and height_px instead.
    text = models.TextField(blank=True, default="")
    token_count = models.IntegerField(default=0)
    # Tokens in the other installed encodings, by name; empty if the file was read before they were counted.
    tokens_by_encoding = models.JSONField(default=dict, db_default=Value({}, models.JSONField()), blank=True)
    # Length of the reader's notes at the beginning of the text, in characters; no search finds them.
    notes_length = models.IntegerField(default=0, db_default=0)
    reading = StructField(Reading)
    width_px = models.IntegerField(null=True, blank=True)
    height_px = models.IntegerField(null=True, blank=True)
    # For the picture of a page without text: its document and page number. Vision models get it with the document.
    page_of = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="page_pictures", db_index=False
    )
    page = models.IntegerField(null=True, blank=True)
    # An image that a tool returned. It is in no list; the database deletes it with the last tool call that has it.
    is_tool_image = models.BooleanField(default=False, db_default=False, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    # Rises with every claim; the fencing token of all writes of a worker.
    attempt = models.IntegerField(default=0, db_default=0)
    # Number of workers that died while they read the file.
    failures = models.IntegerField(default=0, db_default=0)
    lease_until = models.DateTimeField(null=True, blank=True)
    # When the file began to wait for a worker.
    queued_at = models.DateTimeField(db_default=Now())
    ended_at = models.DateTimeField(null=True, blank=True)
    # When the end was published to the sockets of the owner.
    announced_at = models.DateTimeField(null=True, blank=True)
    # The attempt whose chunks searches find; None: no chunks yet.
    chunks_version = models.IntegerField(null=True, blank=True)
    # Number of these chunks.
    chunk_count = models.IntegerField(default=0, db_default=0)
    # Whether there may be chunks of other attempts, which are deleted once the file has ended.
    has_stale_chunks = models.BooleanField(default=False, db_default=False)

    objects = FileQuerySet.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")
        permissions = [("view_file_text", "Can view extracted texts")]
        indexes = [
            models.Index(fields=["-created_at", "-id"], name="file_by_creation"),
            models.Index(fields=["error_code"], name="file_failed", condition=Q(status=FileStatus.FAILED)),
            models.Index(fields=["owner", "-created_at", "-id"], name="file_by_owner"),
            models.Index(
                fields=["lease_until"], name="file_processing", condition=Q(status=FileStatus.PROCESSING)
            ),
            models.Index(
                fields=["ended_at"],
                name="file_unannounced",
                condition=Q(ended_at__isnull=False, announced_at__isnull=True),
            ),
            models.Index(fields=["id"], name="file_stale_chunks", condition=Q(has_stale_chunks=True)),
            models.Index(
                fields=["page_of", "page"], name="file_page_pictures", condition=Q(page_of__isnull=False)
            ),
        ]
        constraints = [
            models.CheckConstraint(condition=Q(kind__in=FileKind.values), name="file_kind_known"),
            models.CheckConstraint(condition=Q(status__in=FileStatus.values), name="file_status_known"),
            models.CheckConstraint(
                condition=Q(size_bytes__gte=0, token_count__gte=0), name="file_sizes_not_negative"
            ),
            models.CheckConstraint(
                condition=(Q(status="failed") & ~Q(error_code="")) | (~Q(status="failed") & Q(error_code="")),
                name="file_has_an_error_iff_failed",
            ),
            models.CheckConstraint(
                condition=~Q(kind="image", status="ready")
                | Q(width_px__isnull=False, width_px__gte=1, height_px__isnull=False, height_px__gte=1),
                name="ready_picture_has_its_size",
            ),
            models.CheckConstraint(
                condition=Q(lease_until__isnull=True) | Q(status=FileStatus.PROCESSING, attempt__gte=1),
                name="leased_file_is_processing",
            ),
            models.CheckConstraint(
                condition=Q(ended_at__isnull=True) | ~Q(status=FileStatus.PROCESSING),
                name="processing_file_has_no_end",
            ),
            models.CheckConstraint(
                condition=Q(attempt__gte=0, failures__gte=0), name="file_attempts_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(project__isnull=True) | Q(knowledge_base__isnull=True),
                name="document_is_in_no_project",
            ),
            models.CheckConstraint(
                condition=Q(thumbnail="") | Q(kind=FileKind.IMAGE), name="only_pictures_have_thumbnails"
            ),
        ]

    def __str__(self) -> str:
        return self.name

    # Mutators: False if this attempt no longer holds the row

    def start_again(self) -> bool:
        """Return an ended file to the queue, with its count of failures reset.

        False: the file has not ended, has no content, or is the picture of a page, which its document creates.
        The extracted text stays, and searches find its chunks, until the new end replaces them.
        """
        ended = type(self).objects.filter(pk=self.pk).exclude(status=FileStatus.PROCESSING)
        ended = ended.exclude(content="", url="").filter(page_of__isnull=True)
        return bool(
            ended.update(
                status=FileStatus.PROCESSING,
                error_code="",
                failures=0,
                queued_at=Now(),
                ended_at=None,
                announced_at=None,
                has_stale_chunks=True,
            )
        )

    def extend_lease(self) -> bool:
        return bool(self._as_held().update(lease_until=Now() + LEASE))

    def release(self, delay: timedelta = timedelta()) -> bool:
        """Return the file to the queue, where it waits for `delay` before the sweeper has it claimed."""
        return bool(self._as_held().update(lease_until=None, queued_at=Now() + delay))

    def take_from_dead_worker(self) -> bool:
        """Return the file to the queue and count the failure. The caller has checked `has_failures_left`."""
        held = self._as_held().filter(lease_until__lt=Now())
        return bool(held.update(lease_until=None, queued_at=Now(), failures=F("failures") + 1))

    def hold_for_chunks(self) -> bool:
        """Lock the row until the transaction ends, to store chunks of this attempt.
        Searches find them after `end_ready` or `serve_chunks`.
        """
        if self.status == FileStatus.READY:
            return bool(self._as_ended().update(has_stale_chunks=True))
        return bool(self._as_held().update(has_stale_chunks=True, lease_until=Now() + LEASE))

    def serve_chunks(self) -> bool:
        """Let searches find the chunks of this attempt, stored after the file was ready."""
        return bool(self._as_ended().update(chunks_version=self.attempt, chunk_count=self._count_chunks()))

    def end_ready(self, found: Extraction, *, has_chunks: bool = False) -> bool:
        """End the file as ready. `has_chunks`: all chunks of this attempt exist; searches find them, else none."""
        stored = found._asdict() | {"chunks_version": self.attempt if has_chunks else None}
        stored["tokens_by_encoding"] = dict(found.tokens_by_encoding)
        stored["chunk_count"] = self._count_chunks() if has_chunks else 0
        if not found.content:
            del stored["content"], stored["size_bytes"]
        return self._end(status=FileStatus.READY, **stored)

    def end_unchanged(self) -> bool:
        """End the file as ready, with the former text: the content to be read again is unchanged."""
        return self._end(status=FileStatus.READY)

    def end_failed(self, code: str) -> bool:
        return self._end(status=FileStatus.FAILED, error_code=code)

    def record_announced(self) -> None:
        ended = type(self).objects.filter(pk=self.pk, attempt=self.attempt, ended_at__isnull=False)
        ended.filter(announced_at__isnull=True).update(announced_at=Now())

    # Properties

    @property
    def has_failures_left(self) -> bool:
        """Whether the file gets another attempt if its present worker dies."""
        return self.failures + 1 < MAX_FAILURES

    def current_page_pictures(self) -> FileQuerySet:
        """Return the page pictures of the latest reading. Messages may have pictures of earlier readings."""
        return File.objects.filter(page_of=self).order_by("-created_at", "page")[: self.reading.shown_pages]

    def _count_chunks(self) -> int:
        """Count the chunks of this attempt."""
        stored: Any = self.chunks
        return int(stored.filter(version=self.attempt).count())

    def _end(self, **fields: Any) -> bool:
        return bool(self._as_held().update(lease_until=None, ended_at=Now(), **fields))

    def _as_ended(self) -> FileQuerySet:
        return type(self).objects.filter(pk=self.pk, attempt=self.attempt, status=FileStatus.READY)

    def _as_held(self) -> FileQuerySet:
        held = type(self).objects.filter(pk=self.pk, attempt=self.attempt, status=FileStatus.PROCESSING)
        return held.filter(lease_until__isnull=False)

    # Mutators

    def join(self, project: Project) -> bool:
        """Move the file to `project`, out of any other. False: the file or the project was deleted."""
        return self._move(project, project)

    def leave(self, project: Project) -> bool:
        """Remove the file from `project`. False: the file does not belong to it."""
        return self._move(project, None, project=project)

    def _move(self, touched: Project, to: Project | None, **condition: Any) -> bool:
        with transaction.atomic():
            # Locks the project, so that it is not deleted meanwhile.
            if not touched.change():
                return False
            moved = type(self).objects.filter(pk=self.pk, **condition).update(project=to)
        if moved:
            self.project = to
        return bool(moved)


class DeletedBlob(models.Model):
    """A blob to be deleted.

    A trigger on the table of files inserts the row in the transaction that deletes or replaces a file's content or
    thumbnail, also if the file is deleted with its owner or by SQL. So no later crash can lose it.
    """

    path = models.CharField(max_length=200)
    created_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return self.path
