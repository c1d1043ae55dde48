"""What a reader counted in a file: one column, which processes of the version before know as four."""

from importlib import import_module
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from knowledge.models import File
from knowledge.texts.reading import Reading
from tests.former_columns import execute, read_columns

pytestmark = pytest.mark.django_db

COLUMNS = import_module("knowledge.migrations.0026_reading").COLUMNS
COUNTED = {"unread_pages": 12, "shown_pages": 10, "table_rows": 3_000_000_000, "shown_rows": 50}


@pytest.fixture
def file() -> File:
    return File.objects.create(owner=User.objects.create_user("alice"), name="tides.pdf")


def columns(file: File) -> dict[str, int]:
    return read_columns(file, COLUMNS)


def stored(file: File) -> Reading:
    return File.objects.get(pk=file.pk).reading


def test_the_version_before_reads_what_this_one_counted(file: File) -> None:
    assert columns(file) == dict.fromkeys(COLUMNS, 0)
    File.objects.update(reading=Reading(**COUNTED))
    assert columns(file) == COUNTED
    new = File.objects.create(owner=file.owner, name="again.pdf", reading=Reading(**COUNTED))
    assert columns(new) == COUNTED
    File.objects.update(reading=Reading(unread_pages=1))
    assert columns(new) == {**dict.fromkeys(COLUMNS, 0), "unread_pages": 1}


def test_this_version_reads_what_the_version_before_counted(file: File) -> None:
    execute("UPDATE knowledge_file SET unread_pages = 3, table_rows = 120, shown_rows = 50")
    assert stored(file) == Reading(unread_pages=3, table_rows=120, shown_rows=50)
    execute("UPDATE knowledge_file SET unread_pages = 0")
    assert stored(file) == Reading(table_rows=120, shown_rows=50)
    execute(
        "INSERT INTO knowledge_file (id, owner_id, name, content_type, kind, size_bytes, content, status, error_code, text, token_count, "
        "created_at, unread_pages) SELECT %s, owner_id, name, content_type, kind, 0, '', status, '', '', 0, now(), 2 FROM knowledge_file",
        new := uuid4(),
    )
    assert stored(File(pk=new)) == Reading(unread_pages=2)


def test_what_a_later_version_counted_is_read_past(file: File) -> None:
    execute('UPDATE knowledge_file SET reading = \'{"unread_pages": 3, "slides": 4}\'')
    assert stored(file) == Reading(unread_pages=3)


def test_what_is_shown_of_a_whole_is_said_with_it() -> None:
    assert Reading(unread_pages=3).counted() == {"unread_pages": 3, "shown_pages": 0}
    assert Reading(table_rows=120, shown_rows=50).counted() == {"table_rows": 120, "shown_rows": 50}
    assert Reading().counted() == {}
