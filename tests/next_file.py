"""Reads one file at once, as an ingest process does when it is that file's turn."""

from datetime import timedelta

from django.utils import timezone

from ingest import extraction
from knowledge.models import File


def read_file(pk: str) -> None:
    """Also if other files of its owner have waited for longer, or its storage has just failed."""
    File.objects.filter(pk=pk).update(queued_at=timezone.now() - timedelta(days=1))
    extraction.extract(pk)
