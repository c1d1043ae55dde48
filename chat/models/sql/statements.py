"""Fixed SQL for what every turn does: written once, where the ORM would build each query again.

Building a query takes the ORM 0.5 to 2 ms of processor time, running it 0.1 ms (measured); a turn had fifty of them.
Whoever uses this hides it behind a method of the model; everything rarer stays with the ORM. The database sees the
values apart from the text, and keeps its plan of that.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from msgspec import json
from psycopg import Cursor, Error

# A statement that was asked this often on a connection is asked again, and its plan is kept.
PREPARED_AFTER: Final = 1

M = TypeVar("M", bound=models.Model)
Given = Mapping[str, Any] | Sequence[Any]
# A statement and what is given to it.
Asked = tuple[str, Given]

# Begins a statement that asks for the branch to a message (parameter `leaf`): table branch, depth 0 at the leaf.
BRANCH = """
    WITH RECURSIVE branch AS (
        SELECT id, parent_id, 0 AS depth FROM chat_chatmessage WHERE id = %(leaf)s
        UNION ALL
        SELECT above.id, above.parent_id, depth + 1
        FROM chat_chatmessage AS above JOIN branch ON above.id = branch.parent_id
    )"""


def first(statement: str, given: Given) -> Any:
    """The first row as a tuple; None if there is none."""
    return executed(statement, given).fetchone()


def every(statement: str, given: Given) -> list[Any]:
    """All rows as tuples."""
    return executed(statement, given).fetchall()


def together(*asked: Asked) -> list[list[Any]]:
    """All rows of each, in one round trip: a thread that waits pays for waking up more than for what it asks.

    They are executed one after the other, and each sees what was committed when it began. Outside of a transaction
    they are one: locks are held to the end, and where one fails nothing was done.
    """
    with _held() as held:
        try:
            with held.pipeline():
                cursors = [_executed(held, statement, given) for statement, given in asked]
        except Error:
            held.close()  # what stood behind the one that failed was not prepared, and psycopg takes it to be
            raise
    return [cursor.fetchall() for cursor in cursors]


def executed(statement: str, given: Given) -> Cursor[Any]:
    """With its rows, which have all come.

    Past Django's cursor, which writes the values into the text: that costs more here, and Postgres plans each anew.
    """
    with _held() as held:
        return _executed(held, statement, given)


@contextmanager
def _held() -> Iterator[Any]:
    """The thread's connection. While Django has none open there, one of its pool's for this alone: taking one and
    giving it back as Django does costs more than what most statements do."""
    django: Any = connections[DEFAULT_DB_ALIAS]
    pool = None if django.connection or django.in_atomic_block else django.pool
    with django.wrap_database_errors:
        if pool is None:
            django.ensure_connection()
            django.validate_no_broken_transaction()
            yield django.connection
        else:
            if pool.closed:
                pool.open()  # at its first use, as Django does it
            borrowed = pool.getconn()
            try:
                if not borrowed.autocommit:  # as Django leaves one that it gives up within a transaction
                    borrowed.autocommit = True
                yield borrowed
            finally:
                pool.putconn(borrowed)


def _executed(held: Any, statement: str, given: Given) -> Cursor[Any]:
    if connection.queries_logged:
        connection.queries_log.append({"sql": statement, "time": ""})
    # For these alone: of Django's queries psycopg would keep the texts, with all that was written into them.
    held.prepare_threshold = PREPARED_AFTER if settings.PREPARE_STATEMENTS else None
    try:
        return Cursor(held).execute(statement, given)
    finally:
        held.prepare_threshold = None


def literal(value: str) -> str:
    """A constant of this project, such as a status, as an SQL literal. Not for values from outside."""
    return f"'{value}'"


def literals(values: Iterable[str]) -> str:
    """literal() of each, for IN (...); in a fixed order, so that every process prepares the same text."""
    return ", ".join(literal(value) for value in sorted(values))


def names(model: type[models.Model]) -> list[str]:
    """The attributes that have a column, in the order of columns()."""
    return [field.attname for field in _concrete(model)]


def columns(model: type[models.Model], alias: str) -> str:
    return ", ".join(f"{alias}.{field.column}" for field in _concrete(model))


def instance(model: type[M], attributes: Sequence[str], values: Sequence[Any]) -> M:
    """The row as the ORM would have read it; attributes that are not named are loaded when they are asked for.

    attributes: in the order of the model's fields, as Model.from_db assigns them.
    """
    return model.from_db(connection.alias, attributes, values)


def insertion(model: type[models.Model], parameter: str) -> str:
    """INSERT of the rows() given as a parameter. What the database fills in by itself is left to it."""
    listed = ", ".join(field.column for field in _written(model))
    table = model._meta.db_table  # noqa: SLF001  Django's documented model API
    return (
        f"INSERT INTO {table} ({listed}) SELECT {listed} "  # noqa: S608  names from the models alone
        f"FROM jsonb_populate_recordset(NULL::{table}, %({parameter})s::jsonb)"
    )


def insert(instances: Sequence[models.Model]) -> None:
    """Store unsaved instances of one model just as they are: the ORM would set times of its own."""
    if instances:
        statement = insertion(type(instances[0]), "rows")
        with connection.cursor() as cursor:
            cursor.execute(statement, {"rows": rows(instances)})


def rows(instances: Sequence[models.Model]) -> str:
    """Unsaved instances as a parameter of insertion()."""
    return json.encode(
        [{field.column: getattr(one, field.attname) for field in _written(type(one))} for one in instances]
    ).decode()


def _written(model: type[models.Model]) -> list[Any]:
    return [field for field in _concrete(model) if not field.generated and not field.has_db_default()]


def _concrete(model: type[models.Model]) -> Sequence[Any]:
    return model._meta.concrete_fields  # noqa: SLF001  Django's documented model API
