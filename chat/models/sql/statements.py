"""Executes fixed SQL statements, prepared on the server, and returns their rows as NamedTuples.

Only for statements that every turn needs: building a query takes the ORM 0.5 to 2 ms of processor time, executing it
takes 0.1 ms (measured), and a turn had fifty of them. Everything rarer stays with the ORM. A statement stands beside
the NamedTuple of its rows and is called by a method of the model. Values are sent apart from the text, so Postgres
keeps the plan of a text. This module contains no tables.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, Generic, NamedTuple, NewType, TypeVar, get_args, get_type_hints, overload

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connection, connections, models
from msgspec import json
from psycopg import Cursor, Error
from psycopg.errors import QueryCanceled

# Executions on one connection after which psycopg prepares a statement there, so that Postgres keeps its plan.
PREPARED_AFTER: Final = 1
# The size of the rows that insert() sends at once.
BATCH_BYTES: Final = 4 * 1024 * 1024

# A column of JSON, which connections of Django read as text; instance() decodes it.
JSONText = NewType("JSONText", str)

M = TypeVar("M", bound=models.Model)
R = TypeVar("R", bound=tuple[Any, ...])
A = TypeVar("A", bound=tuple[Any, ...])
B = TypeVar("B", bound=tuple[Any, ...])

# Starts a statement about the branch to the message `leaf` (a parameter): table branch, depth 0 at the leaf.
# Plan: one look-up by primary key for each message of the branch.
BRANCH = """
    WITH RECURSIVE branch AS (
        SELECT id, parent_id, 0 AS depth FROM chat_chatmessage WHERE id = %(leaf)s
        UNION ALL
        SELECT above.id, above.parent_id, depth + 1
        FROM chat_chatmessage AS above JOIN branch ON above.id = branch.parent_id
    )"""
# After BRANCH: the ids of the branch's messages, for = ANY (...). Other tables are then read by index, in one pass. A
# join, or a subquery for each message, is planned for a branch whose length nobody knows.
BRANCH_IDS: Final = "ARRAY(SELECT id FROM branch)"


class Statement(Generic[R]):
    """An SQL text with named parameters, and the NamedTuple its rows are read as.

    A field whose type is itself a NamedTuple takes as many columns as that has; where it may be None, it is None if
    the first of them is NULL.
    """

    def __init__(self, sql: str, row: type[R]) -> None:
        self.sql = sql
        self.read: Callable[[Sequence[Any]], R] = _reader(row)

    def first(self, **parameters: Any) -> R | None:
        """Execute the statement; return the first row, None if there is none."""
        row = self._execute(parameters).fetchone()
        return None if row is None else self.read(row)

    def all(self, **parameters: Any) -> list[R]:
        """Execute the statement; return all rows."""
        return [self.read(row) for row in self._execute(parameters).fetchall()]

    def query(self, **parameters: Any) -> "Query[R]":
        """Return the statement with its parameters, for together()."""
        return Query(self, parameters)

    def _execute(self, parameters: Mapping[str, Any]) -> Cursor[Any]:
        with _borrowed_connection() as borrowed:
            try:
                return _execute(borrowed, self.sql, parameters)
            except QueryCanceled:
                # It took too long, perhaps by a plan from when its tables were small. Connections keep their plans.
                borrowed.close()
                raise


@dataclass(frozen=True)
class Query(Generic[R]):
    statement: Statement[R]
    parameters: Mapping[str, Any]


@overload
def together(one: Query[A], other: Query[B], /) -> tuple[list[A], list[B]]: ...
@overload
def together(*queries: Query[Any]) -> Sequence[list[Any]]: ...
def together(*queries: Query[Any]) -> Sequence[list[Any]]:
    """Return all rows of each query, in one round trip: waking a waiting thread costs more than most queries do.

    The queries are executed one after the other, and each sees what was committed when it started. Outside a
    transaction they form one: locks are held to the end, and if one fails nothing was done.
    """
    with _borrowed_connection() as borrowed:
        try:
            with borrowed.pipeline():
                cursors = [_execute(borrowed, query.statement.sql, query.parameters) for query in queries]
        except Error:
            # psycopg takes the statements behind the failed one to be prepared, and they are not.
            borrowed.close()
            raise
    return [
        [query.statement.read(row) for row in cursor.fetchall()]
        for query, cursor in zip(queries, cursors, strict=True)
    ]


@contextmanager
def _borrowed_connection() -> Iterator[Any]:
    """Borrow the thread's connection, or one from Django's pool if Django has none open in this thread: opening and
    closing a connection the way Django does costs more than most statements."""
    django: Any = connections[DEFAULT_DB_ALIAS]
    pool = None if django.connection or django.in_atomic_block else django.pool
    with django.wrap_database_errors:
        if pool is None:
            django.ensure_connection()
            django.validate_no_broken_transaction()
            yield django.connection
        else:
            if pool.closed:
                pool.open()  # at its first use, as Django does
            borrowed = pool.getconn()
            try:
                if not borrowed.autocommit:  # Django returns some that were in a transaction
                    borrowed.autocommit = True
                yield borrowed
            finally:
                pool.putconn(borrowed)


def _execute(borrowed: Any, sql: str, parameters: Mapping[str, Any]) -> Cursor[Any]:
    """Execute SQL past Django's cursor, which merges the values into the text, so that Postgres would plan it anew."""
    if connection.queries_logged:
        connection.queries_log.append({"sql": sql, "time": ""})
    # For these statements alone: psycopg would keep the texts of Django's queries with all the values in them.
    borrowed.prepare_threshold = PREPARED_AFTER if settings.PREPARE_STATEMENTS else None
    try:
        return Cursor(borrowed).execute(sql, parameters)
    finally:
        borrowed.prepare_threshold = None


class _Part(NamedTuple):
    """A field that is a NamedTuple itself. width: the number of its columns."""

    make: Callable[[Sequence[Any]], Any]
    width: int
    is_optional: bool


def _reader(row: type[R]) -> Callable[[Sequence[Any]], R]:
    make: Callable[[Iterable[Any]], R] = row._make  # type: ignore[attr-defined]
    parts = [_part(hint) for hint in get_type_hints(row).values()]
    if not any(parts):
        return make

    def read(columns: Sequence[Any]) -> R:
        values: list[Any] = []
        at = 0
        for part in parts:
            if part is None:
                values.append(columns[at])
                at += 1
            else:
                is_absent = part.is_optional and columns[at] is None
                values.append(None if is_absent else part.make(columns[at : at + part.width]))
                at += part.width
        return make(values)

    return read


def _part(hint: Any) -> _Part | None:
    """Return how to read a field that is a NamedTuple; None: the field is one column."""
    for row in (hint, *get_args(hint)):
        if hasattr(row, "_fields"):
            return _Part(_reader(row), _width(row), is_optional=row is not hint)
    return None


def _width(row: type[tuple[Any, ...]]) -> int:
    parts = [_part(hint) for hint in get_type_hints(row).values()]
    return sum(part.width if part else 1 for part in parts)


def select_list(row: type[tuple[Any, ...]], alias: str, **columns: str) -> str:
    """List the columns for a NamedTuple, each called as its field. columns: the columns that are called otherwise."""
    fields: Sequence[str] = row._fields  # type: ignore[attr-defined]
    return ", ".join(f"{alias}.{columns.get(field, field)}" for field in fields)


def literal(value: str) -> str:
    """Return a constant of this project, such as a status, as an SQL literal. Not for values from outside."""
    return f"'{value}'"


def literals(values: Iterable[str]) -> str:
    """Return the literal() of each, for IN (...); in a fixed order, so that every process prepares the same text."""
    return ", ".join(literal(value) for value in sorted(values))


def instance(model: type[M], row: tuple[Any, ...]) -> M:
    """Return the row as the ORM would have read it; attributes that it lacks are loaded when they are used.

    row: a NamedTuple whose fields are attributes of the model, in the order of its fields (Model.from_db).
    """
    values = [*row]
    for column in _json_columns(type(row)):
        if values[column] is not None:
            values[column] = json.decode(values[column])
    return model.from_db(connection.alias, row._fields, values)  # type: ignore[attr-defined]


@cache
def _json_columns(kind: type[Any]) -> list[int]:
    return [
        column
        for column, hint in enumerate(get_type_hints(kind).values())
        if JSONText in (hint, *get_args(hint))
    ]


def insertion(model: type[models.Model], parameter: str, **computed: str) -> str:
    """Return an INSERT of the rows() passed as `parameter`; columns with a default only in the database are omitted.

    computed: expressions by column, in which column names are the values in rows().
    """
    columns = [field.column for field in _written(model)]
    listed, values = ", ".join(columns), ", ".join(computed.get(column, column) for column in columns)
    table = model._meta.db_table  # noqa: SLF001  Django's documented model API
    return (
        f"INSERT INTO {table} ({listed}) SELECT {values} "  # noqa: S608  names from the models alone
        f"FROM jsonb_populate_recordset(NULL::{table}, %({parameter})s::jsonb)"
    )


def insert(instances: Sequence[models.Model]) -> None:
    """Store unsaved instances of one model with the values they have: the ORM would replace their times.

    In batches, since a parameter is held several times over.
    """
    batch: list[bytes] = []
    batch_bytes = 0
    for one in instances:
        batch.append(_row(one))
        batch_bytes += len(batch[-1])
        if batch_bytes >= BATCH_BYTES or one is instances[-1]:
            with connection.cursor() as cursor:
                cursor.execute(insertion(type(one), "rows"), {"rows": _array(batch)})
            batch, batch_bytes = [], 0


def rows(instances: Sequence[models.Model]) -> str:
    """Encode unsaved instances as a parameter of insertion()."""
    return _array([_row(one) for one in instances])


def _array(encoded: Sequence[bytes]) -> str:
    return f"[{b','.join(encoded).decode()}]"


def _row(one: models.Model) -> bytes:
    return json.encode({field.column: getattr(one, field.attname) for field in _written(type(one))})


def _written(model: type[models.Model]) -> list[Any]:
    return [field for field in _concrete(model) if not field.generated and not _is_left_out(field)]


def _is_left_out(field: Any) -> bool:
    return bool(field.has_db_default() and not field.has_default())


def _concrete(model: type[models.Model]) -> Sequence[Any]:
    return model._meta.concrete_fields  # noqa: SLF001  Django's documented model API


class Limit(NamedTuple):
    limit: str


# First in together(): limits how long each of the statements after it may take, and is undone with the transaction that
# they form. Parameters: limit (with its unit).
LIMIT_STATEMENTS: Final = Statement("SELECT set_config('statement_timeout', %(limit)s, true)", Limit)
