"""Has the text of a file extracted again: the row moves, and after the commit sockets and the ingest process are told."""

from functools import partial
from uuid import UUID

from django.db import transaction

from chat.events.files import publish_processing
from chat.runs.task_queue import enqueue_file
from knowledge.models import File


def extract_again(file_id: UUID | str) -> bool:
    """Return a file that is ready or failed to the queue, once. False: it is being read, has no content, or was deleted."""
    file = File.objects.filter(pk=file_id).defer("text").first()
    if file is None:
        return False
    with transaction.atomic():
        if not file.start_again():
            return False
        file.refresh_from_db(fields=("status", "error_code"))
        transaction.on_commit(partial(publish_processing, file), robust=True)
        transaction.on_commit(partial(enqueue_file, str(file.pk)), robust=True)
    return True
