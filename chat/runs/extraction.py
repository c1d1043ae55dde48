"""Has the text of a file extracted, for the first time or again: after the commit sockets and the ingest process are told."""

from uuid import UUID

from django.db import transaction

from chat.events.files import publish_processing
from chat.infrastructure.after_commit import call_after_commit
from chat.runs.task_queue import enqueue_file
from knowledge.models import File


def extract_on_commit(file: File) -> None:
    """Tell of a file that is to be read, in the transaction that stores that."""
    call_after_commit(publish_processing, file)
    call_after_commit(enqueue_file, str(file.pk))


def extract_again(file_id: UUID | str) -> bool:
    """Return a file that is ready or failed to the queue, once. False: it is being read, has no content, or was deleted."""
    file = File.objects.filter(pk=file_id).defer("text").first()
    if file is None:
        return False
    with transaction.atomic():
        if not file.start_again():
            return False
        file.refresh_from_db(fields=("status", "error_code"))
        extract_on_commit(file)
    return True
