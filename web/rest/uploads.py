"""Stores an upload: checks what it is and whether its owner has room, stores it, and has its text extracted."""

from django.contrib.auth.models import User

from chat.runs import new_files
from knowledge import blobs
from knowledge.models import File, Project
from web.rest.multipart_form import UploadedContent


def store_upload(user: User, upload: UploadedContent, project: Project | None) -> File:
    """Store the content, then its row, and enqueue the extraction. Raises ApiError; then nothing is stored.

    If the process dies in between, the sweeper deletes the content without a row, or enqueues the row.
    """
    file = describe_upload(user, upload)
    file.project = project
    new_files.check_room(user, upload.size)  # before the storage has it; the row decides
    store_content(upload, file)
    try:
        new_files.store_row(user, file)
    except BaseException:
        blobs.discard(str(file.content.name))
        raise
    return file


def describe_upload(user: User, upload: UploadedContent) -> File:
    """The row of an accepted content, not stored yet. Raises ApiError."""
    return new_files.describe_file(user, upload.name, upload.head(), upload.size)


def store_content(upload: UploadedContent, file: File) -> None:
    """Put the content into the storage, where only the row, stored later, keeps it. Raises ApiError."""
    new_files.store_content(upload.content, file)
