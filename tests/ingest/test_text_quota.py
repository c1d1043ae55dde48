"""Texts that are extracted count for the storage of their owner before they are stored."""

from typing import Any

import pytest
from django.core.files.base import ContentFile

from chat.models import StoredBytes
from ingest.extraction import _end_ready
from knowledge.models import Extraction, File, FileKind
from tests import factories
from tests.concurrency import run_concurrently

pytestmark = pytest.mark.django_db(transaction=True)

CONTENT = b"packed"


def claimed(owner: Any) -> File:
    file = File.objects.create(
        owner=owner, name="tides.txt", size_bytes=len(CONTENT), content=ContentFile(CONTENT, name="any")
    )
    found = File.objects.claim(str(file.pk))
    assert found
    return found


def end(file: File, text: str) -> tuple[str, str]:
    assert _end_ready(file, Extraction(FileKind.TEXT, "text/plain", text, 5, None, None))
    stored = File.objects.get(pk=file.pk)
    return stored.status, stored.error_code


def test_a_text_that_fits_is_stored_and_one_byte_more_is_not(settings: Any) -> None:
    alice = factories.create_user("alice")
    settings.MAX_STORED_BYTES_PER_USER = len(CONTENT) * 2 + 100
    first, second = claimed(alice), claimed(alice)
    assert end(first, "ü" * 50) == ("ready", "")
    assert end(second, "x") == ("failed", "storage_full")
    assert StoredBytes.objects.sum_of(alice.pk) == settings.MAX_STORED_BYTES_PER_USER


def test_texts_side_by_side_do_not_exceed_it_together(settings: Any) -> None:
    alice = factories.create_user("alice")
    settings.MAX_STORED_BYTES_PER_USER = len(CONTENT) * 4 + 250
    files = [claimed(alice) for _ in range(4)]
    ended = run_concurrently(*(lambda file=file: end(file, "x" * 100) for file in files))
    assert sorted(ended) == [("failed", "storage_full")] * 2 + [("ready", "")] * 2


def test_pictures_and_operators_without_a_limit_are_not_asked(settings: Any) -> None:
    alice = factories.create_user("alice")
    settings.MAX_STORED_BYTES_PER_USER = 1
    assert end(claimed(alice), "") == ("ready", "")
    settings.MAX_STORED_BYTES_PER_USER = 0
    assert end(claimed(alice), "x" * 100) == ("ready", "")
