"""Requests the extraction of a file's text, for the first time or again, from the ingest process."""

from uuid import UUID

from django.db import transaction

from chat.events.files import publish_processing
from chat.infrastructure.after_commit import call_after_commit
from chat.runs.task_queue import enqueue_file
from knowledge.models import File


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
