"""Migrations beside traffic: what was interrupted is begun anew, what is there stays, and no lock is waited for for long."""

from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.db.migrations.state import ProjectState
from django.db.models import Index
from django.db.models.signals import pre_migrate

from knowledge.migration_operations import AddMissingIndex, remove_lock_timeout, restore_lock_timeout

ADD = AddMissingIndex("file", Index(fields=["size_bytes"], name="file_by_size_of_a_test"))


def lock_timeout() -> str:
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('lock_timeout')")
        return str(cursor.fetchone()[0])


def forwards(operation: Any) -> None:
    before = ProjectState.from_apps(apps)
    after = before.clone()
    operation.state_forwards("knowledge", after)
    with connection.schema_editor(atomic=False) as editor:
        operation.database_forwards("knowledge", editor, before, after)


def index() -> tuple[int, bool]:
    """Its object id, and whether it is complete."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT indexrelid::int, indisvalid FROM pg_index WHERE indexrelid = %s::regclass",
            [ADD.index.name],
        )
        row: tuple[int, bool] = cursor.fetchone()
        return row


@pytest.fixture
def _without_the_index(transactional_db: None) -> Any:
    yield
    with connection.cursor() as cursor:
        cursor.execute(f"DROP INDEX IF EXISTS {ADD.index.name}")


@pytest.mark.usefixtures("_without_the_index")
def test_an_index_that_is_there_stays_and_one_that_was_interrupted_is_built_anew() -> None:
    forwards(ADD)
    first, is_valid = index()
    assert is_valid
    forwards(ADD)
    assert index() == (first, True)
    with connection.cursor() as cursor:
        cursor.execute("UPDATE pg_index SET indisvalid = FALSE WHERE indexrelid = %s", [first])
    forwards(ADD)
    again, is_valid = index()
    assert is_valid
    assert again != first


@pytest.mark.usefixtures("_without_the_index")
def test_locks_are_waited_for_while_an_index_is_built_alone() -> None:
    forwards(remove_lock_timeout())
    assert lock_timeout() == "0"
    forwards(restore_lock_timeout())
    assert lock_timeout() == "5s"
    with connection.cursor() as cursor:
        cursor.execute("RESET lock_timeout")


@pytest.mark.usefixtures("transactional_db")
def test_migrate_waits_for_no_lock_for_long_however_it_is_started() -> None:
    seen: list[str] = []

    def see(**_: Any) -> None:
        seen.append(lock_timeout())

    pre_migrate.connect(see)  # once for each app, before the first migration
    try:
        call_command("migrate", verbosity=0)
    finally:
        pre_migrate.disconnect(see)
    assert (seen[-1], lock_timeout()) == ("5s", "0")
