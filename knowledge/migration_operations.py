"""Operations of migrations that run beside traffic, in migrations with `atomic = False`. Idempotent: an attempt may be interrupted."""

from typing import Any, Final

from django.contrib.postgres.operations import AddIndexConcurrently
from django.db.migrations import RunSQL

# How long `migrate` waits for a lock; everybody who needs the table waits behind it.
LOCK_TIMEOUT: Final = "5s"
_IS_VALID: Final = "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)"


def wait_for_locks() -> RunSQL:
    """Before an index is built beside traffic: it waits for the end of every transaction, and nobody waits behind it."""
    return RunSQL("SET lock_timeout = 0", f"SET lock_timeout = '{LOCK_TIMEOUT}'")


def wait_no_longer() -> RunSQL:
    return RunSQL(f"SET lock_timeout = '{LOCK_TIMEOUT}'", "SET lock_timeout = 0")


class AddMissingIndex(AddIndexConcurrently):
    """Does nothing if the index is there; one that an interrupted attempt has left is built anew."""

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        name = schema_editor.quote_name(self.index.name)
        with schema_editor.connection.cursor() as cursor:
            cursor.execute(_IS_VALID, [name])
            is_valid = cursor.fetchone()
        if is_valid != (True,):
            schema_editor.execute(f"DROP INDEX CONCURRENTLY IF EXISTS {name}")
            super().database_forwards(app_label, schema_editor, from_state, to_state)
