"""Rows as processes of the version before read and write them, past the models of this one."""

from collections.abc import Sequence
from typing import Any

from django.db import connection, models


def read_columns(row: models.Model, names: Sequence[str]) -> dict[str, Any]:
    """Return columns of a row by their names. JSON is text."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(names)} FROM {row._meta.db_table} WHERE id = %s", [row.pk])
        return dict(zip(names, cursor.fetchone(), strict=True))


def execute(sql: str, *values: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
