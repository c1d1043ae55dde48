"""Storage of an upload: checks its type and its owner's quota, stores it, and has its text extracted."""

from uuid import UUID

from django.contrib.auth.models import User

from chat.runs import new_files
from knowledge.files import blobs
from knowledge.models import File, Project
from web.rest.multipart_form import UploadedContent


def store_upload(
    user: User, upload: UploadedContent, project: Project | None = None, pk: UUID | None = None
) -> File:
    """Store the content, then its row, and enqueue the extraction. Raises ApiError; then nothing is stored.

    pk: the id of the row; None: a new one.

    If the process dies in between, the sweeper deletes the content without a row, or enqueues the row.
    """
    file = describe_upload(user, upload)
    file.pk, file.project = pk or file.pk, project
    new_files.check_room(user, upload.size)  # before the content is stored; checked again with the row
    store_content(upload, file)
    try:
        new_files.store_row(user, file)
    except BaseException:
        blobs.discard(str(file.content.name))
        raise
    return file


def describe_upload(user: User, upload: UploadedContent) -> File:
    """Return the row of an accepted content, not stored yet. Raises ApiError."""
    return new_files.describe_file(user, upload.name, upload.head(), upload.size)


def store_content(upload: UploadedContent, file: File) -> None:
    """Store the content; without its row, stored later, the sweeper deletes it. Raises ApiError."""
    new_files.store_content(upload.content, file)
