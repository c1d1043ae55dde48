"""The Celery task that extracts the text of one file."""

from typing import Any

from celery import shared_task
from celery.signals import worker_ready

from chat.metrics.tally import keep_pushing
from chat.protocol.tasks import EXTRACT_FILE
from ingest.extraction import extract


@shared_task(name=EXTRACT_FILE)
def extract_file(*, file_id: str, **_later: object) -> None:
    """Extract the text of a file. Idempotent: a repeated delivery cannot claim it and does nothing."""
    extract(file_id)


@worker_ready.connect
def start(**_: Any) -> None:
    keep_pushing("ingest")
