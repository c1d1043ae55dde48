"""Empties the tables of the test database after a test that commits, instead of Django's `flush`.

Django truncates every table, which takes Postgres longer than deleting the few rows of a test, and then makes all content
types and permissions anew: together a third of such a test's time. Here those two tables are kept, as is the list of
migrations; all others are as empty as after `flush`.
"""

from functools import partial
from typing import Any, Final

from django.db import connections, transaction
from django.test import TransactionTestCase

from tests.deadlocks import delete_in_spite_of_deadlocks

KEPT: Final = ("auth_permission", "django_content_type", "django_migrations")
# Neither triggers nor foreign keys count the rows of a table that is emptied with all others.
UNCHECKED: Final = "SET LOCAL session_replication_role = replica"


def empty_instead_of_flush() -> None:
    """For all tests of this process."""
    TransactionTestCase._fixture_teardown = empty_tables  # type: ignore[method-assign]


def empty_tables(test: Any) -> None:
    """As TransactionTestCase's method that it replaces. test: names the databases."""
    for name in test._databases_names(include_mirrors=False):
        connection = connections[name]
        tables = [table for table in connection.introspection.table_names() if table not in KEPT]
        deletions = [f"DELETE FROM {connection.ops.quote_name(table)}" for table in tables]
        delete_in_spite_of_deadlocks(partial(_execute, name, "; ".join([UNCHECKED, *deletions])))


def _execute(database: str, statements: str) -> None:
    with transaction.atomic(using=database), connections[database].cursor() as cursor:
        cursor.execute(statements)
