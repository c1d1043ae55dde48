"""Stores new files of users: detects the type, checks the room, stores content and row, requests extraction."""

import logging
import uuid
from typing import IO
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction

from chat.events.files import publish_processing
from chat.infrastructure.background import call_after_commit
from chat.models import StoredBytes
from chat.protocol.errors import ApiError
from chat.runs import quotas
from chat.runs.task_queue import enqueue_file
from knowledge.files import blobs
from knowledge.files.file_types import clean_name, detect_type
from knowledge.models import File, FileKind


def extract_on_commit(file: File) -> None:
    """Notify sockets, and enqueue the extraction, after the commit of the transaction that stores the file's status."""
    call_after_commit(publish_processing, file)
    call_after_commit(enqueue_file, str(file.pk))


def extract_again(file_id: UUID | str) -> bool:
    """Return a ready or failed file to the queue, once.
    False: it is being read, has no content, is the picture of a page, or was deleted."""
    file = File.objects.filter(pk=file_id).defer("text").first()
    if file is None:
        return False
    with transaction.atomic():
        if not file.start_again():
            return False
        file.refresh_from_db(fields=("status", "error_code"))
        extract_on_commit(file)
    return True


logger = logging.getLogger(__name__)


def describe_file(user: User, name: str, head: bytes, size: int) -> File:
    """Return the row of a new file, not stored yet. head: the first HEAD_BYTES of the content. Raises ApiError."""
    if not size:
        raise ApiError("file_empty", field="file")
    name = clean_name(name)
    detected = detect_type(name, head)
    if detected.mismatch:
        raise ApiError("file_type_mismatch", field="file", content_type=detected.content_type)
    return File(
        pk=uuid.uuid4(),
        owner=user,
        name=name,
        content_type=detected.content_type,
        kind=FileKind.IMAGE if detected.is_image else FileKind.TEXT,
        size_bytes=size,
    )


def check_room(user: User, size: int) -> None:
    """Raise ApiError if the user may not store a file of this many bytes."""
    quotas.FILES.check(user)
    quotas.WAITING_FILES.check(user)
    quotas.check_storage(user.pk, StoredBytes.objects.sum_of(user.pk), size)


def store_content(content: IO[bytes], file: File) -> None:
    """Put the content into the storage. It is kept only if the row is stored later. Raises ApiError."""
    try:
        file.content.name = blobs.store(content, blobs.upload_path(file.pk))
    except OSError:
        logger.exception("a file of %s bytes cannot be stored", file.size_bytes)
        raise ApiError("file_storage_unavailable") from None


def store_row(user: User, file: File) -> None:
    """Store the row of a stored content, and enqueue its extraction. Raises ApiError."""
    with transaction.atomic():
        # One file of a user at a time: of two files that fit only alone, one is refused.
        quotas.lock_user(user)
        check_room(user, file.size_bytes)
        if file.project and not file.project.hold():
            raise ApiError("project_not_found", field="project")
        File.objects.bulk_create([file])
        extract_on_commit(file)
