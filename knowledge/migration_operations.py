"""Operations of migrations that run beside traffic, for migrations with `atomic = False`.

They are idempotent, because an attempt may be interrupted.
"""

from collections.abc import Sequence
from typing import Any, Final

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.migrations import CreateModel, RunPython, RunSQL, SeparateDatabaseAndState

# How long `migrate` waits for a lock; all other users of the table wait behind it.
LOCK_TIMEOUT: Final = "5s"
# Rows that one statement of FillInBatches locks.
FILLED_AT_ONCE: Final = 500
_IS_VALID: Final = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


def remove_lock_timeout() -> RunSQL:
    """Remove the lock timeout before an index is built beside traffic.
    The build waits for the end of every transaction, and nothing waits behind it.
    """
    return RunSQL("SET lock_timeout = 0", f"SET lock_timeout = '{LOCK_TIMEOUT}'")


def restore_lock_timeout() -> RunSQL:
    """Restore the lock timeout after the index is built."""
    return RunSQL(f"SET lock_timeout = '{LOCK_TIMEOUT}'", "SET lock_timeout = 0")


def gather_columns(
    table: str, column: str, columns: Sequence[str], gathered: str, spread: str
) -> list[RunSQL]:
    """Add a column of JSON for several columns, and keep both alike while processes of the version before write these.

    gathered: the JSON of the columns, an expression in which `{row}` stands before each; NULL: all have their defaults.
    spread: statements of PL/pgSQL that set the columns of NEW from the JSON.
    FillInBatches fills the rows that are there with the same expression, in a migration of its own.
    """
    to_columns, to_json = f"{table}_{column}_to_columns", f"{table}_columns_to_{column}"
    functions = f"""
CREATE FUNCTION {to_columns}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    {spread}
    RETURN NEW;
END $$;
CREATE FUNCTION {to_json}() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- What only this version knows stays.
    NEW.{column} := NULLIF(
        COALESCE(NEW.{column}, '{{}}') - '{{{",".join(columns)}}}'::text[]
        || COALESCE({gathered.format(row="NEW.")}, '{{}}'), '{{}}');
    RETURN NEW;
END $$;
"""
    is_changed = " OR ".join(f"OLD.{name} IS DISTINCT FROM NEW.{name}" for name in columns)
    triggers = {
        f"{table}_new_{column}": ("INSERT", f"NEW.{column} IS NOT NULL", to_columns),
        f"{table}_new_columns": ("INSERT", f"NEW.{column} IS NULL", to_json),
        f"{table}_changed_{column}": (
            f"UPDATE OF {column}",
            f"OLD.{column} IS DISTINCT FROM NEW.{column}",
            to_columns,
        ),
        f"{table}_changed_columns": (f"UPDATE OF {', '.join(columns)}", is_changed, to_json),
    }
    return [
        RunSQL(f"ALTER TABLE {table} ADD COLUMN {column} jsonb"),
        RunSQL(functions),
        *(
            RunSQL(
                f"CREATE TRIGGER {name} BEFORE {event} ON {table} FOR EACH ROW WHEN ({condition}) EXECUTE FUNCTION {function}()"
            )
            for name, (event, condition, function) in triggers.items()
        ),
    ]


class CreateTables(SeparateDatabaseAndState):
    """Creates the tables of several models, which may refer to each other, with their constraints and indexes.

    Django's own operations render the models of all apps again after each table; here they are rendered once.
    """

    def __init__(self, *models: CreateModel) -> None:
        super().__init__(state_operations=models)

    def state_forwards(self, app_label: str, state: Any) -> None:
        # The cached value of this property is updated after each operation, and is made anew when it is needed.
        state.__dict__.pop("apps", None)
        super().state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        for model in self.state_operations:
            model.database_forwards(app_label, schema_editor, from_state, to_state)
        # For SQL that follows.
        for statement in schema_editor.deferred_sql:
            schema_editor.execute(statement)
        schema_editor.deferred_sql.clear()


class AddMissingIndex(AddIndexConcurrently):
    """Adds an index unless it exists. An invalid index, left by an interrupted attempt, is built again."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        name = schema_editor.quote_name(self.index.name)
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(_IS_VALID, [name])
            is_valid = cursor.fetchone()
        if is_valid != (True,):
            schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            super().database_forwards(app_label, schema_editor, from_state, to_state)


class FillInBatches(RunPython):
    """Sets a nullable column to the value of an SQL expression where it is NULL. Reversing does nothing.

    A batch updates the rows that are not locked, and then the others one at a time. So a transaction that has locked
    some of the rows never waits for a whole batch.
    """

    def __init__(self, table: str, column: str, value: str) -> None:
        self._table, self._column, self._value = table, column, value
        super().__init__(self._fill, RunPython.noop)

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return type(self).__name__, [self._table, self._column, self._value], {}

    def _fill(self, _apps: Any, schema_editor: Any) -> None:
        with schema_editor.connection.cursor() as cursor:
            rows = self._rows_after(cursor, None)
            while rows:
                self._fill_rows(cursor, [pk for pk, is_missing in rows if is_missing])
                rows = self._rows_after(cursor, rows[-1][0])

    def _rows_after(self, cursor: Any, pk: Any) -> list[tuple[Any, bool]]:
        """Return the next rows by id, each with whether it lacks the value."""
        cursor.execute(
            f"SELECT id, {self._column} IS NULL AND {self._value} IS NOT NULL FROM {self._table} "  # noqa: S608
            "WHERE %(pk)s IS NULL OR id > %(pk)s ORDER BY id LIMIT %(limit)s",
            {"pk": pk, "limit": FILLED_AT_ONCE},
        )
        return list(cursor.fetchall())

    def _fill_rows(self, cursor: Any, missing: list[Any]) -> None:
        filled = self._set(cursor, missing, "SKIP LOCKED")
        for pk in missing:
            if pk not in filled:
                self._set(cursor, [pk], "")

    def _set(self, cursor: Any, ids: list[Any], locked: str) -> set[Any]:
        cursor.execute(
            f"UPDATE {self._table} SET {self._column} = {self._value} WHERE id IN ("  # noqa: S608
            f"SELECT id FROM {self._table} WHERE id = ANY(%s) FOR NO KEY UPDATE {locked}) RETURNING id",
            [ids],
        )
        return {pk for (pk,) in cursor.fetchall()}
