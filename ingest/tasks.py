"""The Celery tasks of the ingest process: one extracts the text of a file, the other computes vectors of chunks."""

import os
from typing import Any, Final

from celery import shared_task
from celery.signals import worker_process_init, worker_ready

from chat.metrics.presence import celery_work
from chat.metrics.tally import keep_pushing
from chat.protocol.tasks import COMPUTE_VECTORS, EXTRACT_FILE
from chat.runs.task_queue import enqueue_file, enqueue_vectors
from ingest.extraction import extract
from ingest.vectors import compute_waiting
from knowledge.models import File
from knowledge.search.indexing import vectors_wait

# The niceness for the scheduler: chats come before files.
NICENESS: Final = 10


@shared_task(name=EXTRACT_FILE)
def extract_file(*, file_id: str, **_later: object) -> None:
    """Extract the text of the next file, this one or another. Idempotent: if no file waits, nothing is done.

    Then compute vectors for some seconds if nobody does: a message for them would wait behind those of all files.
    A file that left its slot to others (decision 0094) has no message any more, so one is sent.
    """
    if extract(file_id):
        if waiting := File.objects.unclaimed().first():
            enqueue_file(str(waiting.pk))
        if vectors_wait():
            _compute_vectors()


@shared_task(name=COMPUTE_VECTORS)
def compute_vectors(**_later: object) -> None:
    """Compute vectors for some seconds, and queue again behind newer messages if more wait. Idempotent."""
    _compute_vectors()


def _compute_vectors() -> None:
    if compute_waiting():
        enqueue_vectors()


@worker_process_init.connect
def yield_to_chats(**_: Any) -> None:
    os.nice(NICENESS)


@worker_ready.connect
def start(sender: Any, **_: Any) -> None:
    keep_pushing("ingest", celery_work(sender))
