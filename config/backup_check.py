"""`turnwire backup --check`: restores the backup into a scratch database of the same server, and compares it with what was dumped.

Both are read by the same server, so equal rows have equal texts and hashes. What Turnwire makes of them, files and
secrets, is read as after a restore: with the DATA_DIR that the archive has, and the variables of this process.
"""

import os
import secrets
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

from config import backup_archive, database_dump

# Followed by the seconds since 1970, and a part that makes it unique: checks may run side by side.
SCRATCH: Final = "turnwire_check_"
# After this time a scratch database that nobody is connected to is what a killed check has left.
LEFT_S: Final = 24 * 60 * 60
_LEFT: Final = """
    SELECT datname FROM pg_database
    WHERE substring(datname FROM %s)::bigint < %s AND pg_has_role(datdba, 'MEMBER')
"""
_TABLES: Final = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
# What the texts of values depend on.
_SAME_TEXTS: Final = ("SET LOCAL timezone = 'UTC'", "SET LOCAL extra_float_digits = 1")


class Snapshot(NamedTuple):
    """What is dumped. name: for pg_dump. tables: the number of rows and the sum of their hashes, by table."""

    name: str
    tables: dict[str, tuple[int, str]]


@contextmanager
def snapshot(url: str) -> Iterator[Snapshot]:
    """Keep the database as it is now for pg_dump, during the block."""
    import psycopg

    with psycopg.connect(url) as connection:
        connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        (name,) = connection.execute("SELECT pg_export_snapshot()").fetchone() or ("",)
        yield Snapshot(name, _fingerprints(connection))


def problems(url: str, file: Path, dumped: Snapshot, *, with_files: bool) -> list[str]:
    """Return what a restore of the archive would lack, a line each. The scratch database is there meanwhile."""
    import psycopg

    name = f"{SCRATCH}{int(time.time())}_{secrets.token_hex(4)}"
    scratch = urlsplit(url)._replace(path=f"/{name}").geturl()
    with (
        psycopg.connect(url, autocommit=True) as connection,
        tempfile.TemporaryDirectory(dir=file.parent, prefix=f"{file.name}.check-") as folder,
    ):
        backup_archive.unpack(file, Path(folder))
        try:
            _drop_left(connection)
            connection.execute(f'CREATE DATABASE "{name}"')
        except psycopg.Error as error:
            return [f"it is not checked: {error}"]
        try:
            if status := database_dump.restore(scratch, Path(folder) / backup_archive.DUMP):
                return [f"it cannot be restored (status {status})"]
            with psycopg.connect(scratch) as restored:
                found = _fingerprints(restored)
            different = [
                f"other rows in {table}"
                for table in dumped.tables
                if dumped.tables[table] != found.get(table)
            ]
            return [*different, *_unusable(scratch, folder, with_files=with_files)]
        finally:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


def _drop_left(connection: Any) -> None:
    """Drop the scratch databases of checks that were killed."""
    import psycopg

    left = connection.execute(
        _LEFT, [f"^{SCRATCH}([0-9]{{1,12}})_[0-9a-f]+$", int(time.time()) - LEFT_S]
    ).fetchall()
    for (name,) in left:
        # Another check drops it, too, or still reads it.
        with suppress(psycopg.errors.ObjectInUse, psycopg.errors.InvalidCatalogName):
            connection.execute(f'DROP DATABASE "{name}"')


def report(found: list[str], dumped: Snapshot) -> int:
    """Say what was found; return the exit status."""
    for problem in found:
        sys.stderr.write(f"backup: {problem}\n")
    if not found:
        rows = sum(count for count, _ in dumped.tables.values())
        sys.stdout.write(f"checked: restored, it has the same {rows} rows in {len(dumped.tables)} tables\n")
    return 1 if found else 0


def _fingerprints(connection: Any) -> dict[str, tuple[int, str]]:
    from psycopg import sql

    for setting in _SAME_TEXTS:
        connection.execute(setting)
    query = (
        "SELECT count(*), coalesce(sum(hashtextextended(one::text, 0)::numeric), 0)::text FROM public.{} one"
    )
    tables = [name for (name,) in connection.execute(_TABLES).fetchall()]
    return {
        name: connection.execute(sql.SQL(query).format(sql.Identifier(name))).fetchone() for name in tables
    }


def _unusable(scratch: str, folder: str, *, with_files: bool) -> Iterator[str]:
    """Yield secrets that no key decrypts, and files without content."""
    import django

    os.environ |= {"DATABASE_URL": scratch, "DATA_DIR": folder}
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from django.db import connections
    from django.utils import timezone

    from chat.management.commands.rotate_secrets import unreadable
    from knowledge.files import blobs

    try:
        yield from (f"SECRETS_KEYS does not decrypt {row}" for row in unreadable())
        if with_files:
            for path in blobs.compare_with_rows(timezone.now()).missing:
                yield f"no content of a file, unless it was deleted meanwhile: {path}"
    finally:
        connections.close_all()
