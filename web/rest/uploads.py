"""Stores an upload: checks what it is and whether its owner has room, stores it, and has its text extracted."""

import logging
import uuid

from django.contrib.auth.models import User
from django.db import transaction

from chat.models import StoredBytes
from chat.protocol.errors import ApiError
from chat.runs import extraction, quotas
from knowledge import blobs
from knowledge.file_names import clean_name
from knowledge.file_types import detect_type
from knowledge.models import File, FileKind, Project
from web.rest.multipart_form import UploadedContent

logger = logging.getLogger(__name__)


def store_upload(user: User, upload: UploadedContent, project: Project | None) -> File:
    """Store the content, then its row, and enqueue the extraction. Raises ApiError; then nothing is stored.

    If the process dies in between, the sweeper deletes the content without a row, or enqueues the row.
    """
    file = describe_upload(user, upload)
    file.project = project
    check_room(user, upload.size)  # before the storage has it; the row decides
    store_content(upload, file)
    try:
        _store_row(user, file)
    except BaseException:
        blobs.discard(str(file.content.name))
        raise
    return file


def describe_upload(user: User, upload: UploadedContent) -> File:
    """The row of an accepted content, not stored yet. Raises ApiError."""
    if not upload.size:
        raise ApiError("file_empty", field="file")
    name = clean_name(upload.name)
    detected = detect_type(name, upload.head())
    if detected.mismatch:
        raise ApiError("file_type_mismatch", field="file", content_type=detected.content_type)
    return File(
        pk=uuid.uuid4(),
        owner=user,
        name=name,
        content_type=detected.content_type,
        kind=FileKind.IMAGE if detected.is_image else FileKind.TEXT,
        size_bytes=upload.size,
    )


def check_room(user: User, size: int) -> None:
    """Raise ApiError if the user may not store a file of so many bytes."""
    quotas.FILES.check(user)
    quotas.WAITING_FILES.check(user)
    quotas.check_storage(user.pk, StoredBytes.objects.sum_of(user.pk), size)


def store_content(upload: UploadedContent, file: File) -> None:
    """Put the content into the storage, where only the row, stored later, keeps it. Raises ApiError."""
    try:
        file.content.name = blobs.store(upload.content, blobs.upload_path(file.pk))
    except OSError:
        logger.exception("an upload of %s bytes cannot be stored", upload.size)
        raise ApiError("file_storage_unavailable") from None


def _store_row(user: User, file: File) -> None:
    with transaction.atomic():
        # One upload of a user at a time: of two that fit alone, one is refused.
        quotas.lock_user(user)
        check_room(user, file.size_bytes)
        if file.project and not file.project.hold():
            raise ApiError("project_not_found", field="project")
        File.objects.bulk_create([file])
        extraction.extract_on_commit(file)
