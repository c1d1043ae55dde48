"""Has the text of a file extracted, for the first time or again: after the commit sockets and the ingest process are told."""

from functools import partial
from uuid import UUID

from django.db import transaction

from chat.events.files import publish_processing
from chat.runs.task_queue import enqueue_file
from knowledge.models import File


def extract_on_commit(file: File) -> None:
    """Tell of a file that is to be read, in the transaction that stores that."""
    # robust: the row is stored, whatever happens to its announcement.
    transaction.on_commit(partial(publish_processing, file), robust=True)
    transaction.on_commit(partial(enqueue_file, str(file.pk)), robust=True)


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
