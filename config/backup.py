"""`turnwire backup FILE`, `turnwire restore FILE [--replace]`: database and uploaded files in one file (backup_archive.py).

A restore needs all processes stopped. With the embedded services it runs only these, restores into a database of
another name, and exchanges it for the old one only if that has succeeded. In any case it then deletes the keys of
Turnwire in Redis, whose logs may belong to attempts that the restored rows have not reached.
"""

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from config import backup_archive, backup_check, database_dump, embedded, preflight, programs
from config import environment as env
from config.private_files import PRIVATE_UMASK
from config.supervisor import Program

RESTORED: Final = "turnwire_restored"
_REPLACED: Final = "turnwire_replaced"
_HAS_TABLES: Final = "SELECT to_regclass('public.django_migrations') IS NOT NULL"
NOT_EMPTIED: Final = (
    "REDIS_URL: its user may not list keys: empty that database (FLUSHDB) before you start anything\n"
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="turnwire", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    backing_up = commands.add_parser("backup", help="while everything runs")
    restoring = commands.add_parser("restore", help="while everything is stopped")
    for command in (backing_up, restoring):
        command.add_argument("file", type=Path)
    backing_up.add_argument("--without-files", action="store_true", help="for those who copy files otherwise")
    backing_up.add_argument("--check", action="store_true", help="restores it into a scratch database")
    restoring.add_argument(
        "--replace", action="store_true", help="deletes the embedded database that is there"
    )
    given = parser.parse_args(arguments)
    directory, file = env.data_dir(), given.file.absolute()
    os.umask(PRIVATE_UMASK)
    if given.command == "backup":
        _refuse_another_folder(directory)
        with_files = not given.without_files
        if not given.check:
            return backup(directory, file, with_files=with_files)
        url = env.text("DATABASE_URL")
        with backup_check.snapshot(url) as dumped:
            status = backup(directory, file, with_files=with_files, snapshot=dumped.name)
        has_files = with_files and not env.text("STORAGE_URL")
        return status or backup_check.report(
            backup_check.problems(url, file, dumped, with_files=has_files), dumped
        )
    return restore(directory, file, is_replacing=given.replace)


def _refuse_another_folder(directory: Path) -> None:
    is_running = (directory / "postgres" / "postmaster.pid").exists()
    if not (os.environ.get("DATABASE_URL") or (env.text("DATABASE_URL") and is_running)):
        env.fail("DATA_DIR", f"{directory} is not that of a running instance with an embedded database")


def backup(directory: Path, file: Path, *, with_files: bool, snapshot: str = "") -> int:
    with tempfile.TemporaryDirectory(dir=file.parent, prefix=f"{file.name}.") as folder:
        dump = Path(folder) / backup_archive.DUMP
        if status := database_dump.write(env.text("DATABASE_URL"), dump, snapshot):
            return status
        # After the database, so that each file that a row names is in the archive.
        count = backup_archive.write(file, dump, directory, with_files=with_files)
    sys.stdout.write(f"wrote the database and {count} uploaded files of {directory} into {file}\n")
    if bucket := env.text("STORAGE_URL"):
        sys.stdout.write(f"uploaded files are in {bucket.rpartition('@')[2]}: back up that, too\n")
    return 0


def restore(directory: Path, file: Path, *, is_replacing: bool) -> int:
    if not file.is_file():
        env.fail("restore", f"{file} is not there")
    lock = preflight.acquire_lock(directory)
    # So that services that were started are stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with lock, tempfile.TemporaryDirectory(dir=directory, prefix="restore-") as folder:
        dump = Path(folder) / backup_archive.DUMP
        # All of it, before anything is changed.
        try:
            backup_archive.unpack(file, Path(folder))
        except backup_archive.BackupUnreadable as error:
            env.fail("restore", f"{file} {error}")
        if status := _refuse_other_dumps(dump):
            return status
        _refuse_live_processes()
        embedded.stop_leftovers(directory / "postgres", directory / "valkey")
        status = (
            _restore_own(dump)
            if os.environ.get("DATABASE_URL")
            else _restore_embedded(directory, dump, is_replacing=is_replacing)
        )
        if status:
            return status
        count = backup_archive.move(Path(folder), directory)
        status = _empty_redis(directory)
    sys.stdout.write(
        f"restored {file} with {count} uploaded files into {directory}; a start, or turnwire migrate, migrates it\n"
    )
    return status


def _refuse_other_dumps(dump: Path) -> int:
    """End the process if the dump is of a database without Turnwire's tables; return the status of pg_restore."""
    status, listed = database_dump.contents(dump)
    if not status and " TABLE public django_migrations " not in listed:
        env.fail("restore", "the dump is not that of a database of Turnwire")
    return status


def _restore_own(dump: Path) -> int:
    """Restore into the empty database that DATABASE_URL names; return the exit status.
    Unless the status is 0, the database stays empty.
    """
    import psycopg

    url = env.text("DATABASE_URL")
    with psycopg.connect(url) as connection:
        if _has_tables(connection):
            env.fail("DATABASE_URL", "that database has tables: name an empty one")
    return database_dump.restore(url, dump)


def _refuse_live_processes() -> None:
    """End the process if others run on the Redis of REDIS_URL. Processes on an embedded Redis hold the lock instead."""
    if not os.environ.get("REDIS_URL"):
        return
    _set_up_django()
    from chat.metrics.presence import live_processes

    if there := live_processes():
        env.fail(
            "restore", f"{there[0].role} runs on {there[0].host} (process {there[0].pid}): stop all processes"
        )


def _restore_embedded(directory: Path, dump: Path, *, is_replacing: bool) -> int:
    """Restore into the embedded database; return the exit status. Unless it is 0, the database is as it was."""
    import psycopg

    server = embedded.postgres(directory / "postgres")
    with _running(programs.postgres(server)):
        embedded.wait_for_postgres(server)
        with psycopg.connect(server.url, autocommit=True) as connection:
            if _has_tables(connection) and not is_replacing:
                env.fail(
                    "restore",
                    f"{directory} holds a database already: choose another DATA_DIR, or add --replace",
                )
        with psycopg.connect(_url_of(server, "postgres"), autocommit=True) as connection:
            for left in (RESTORED, _REPLACED):
                connection.execute(f'DROP DATABASE IF EXISTS "{left}" WITH (FORCE)')
            connection.execute(f'CREATE DATABASE "{RESTORED}"')
            if status := database_dump.restore(_url_of(server, RESTORED), dump):
                connection.execute(f'DROP DATABASE "{RESTORED}" WITH (FORCE)')
                return status
            with connection.transaction():
                connection.execute(f'ALTER DATABASE "{embedded.DATABASE}" RENAME TO "{_REPLACED}"')
                connection.execute(f'ALTER DATABASE "{RESTORED}" RENAME TO "{embedded.DATABASE}"')
            connection.execute(f'DROP DATABASE "{_REPLACED}" WITH (FORCE)')
    return 0


def _has_tables(connection: Any) -> bool:
    return bool(connection.execute(_HAS_TABLES).fetchone()[0])


def _url_of(server: embedded.Server, database: str) -> str:
    return server.url.replace(f"/{embedded.DATABASE}?", f"/{database}?")


def _empty_redis(directory: Path) -> int:
    """Empty the embedded Redis; delete only Turnwire's keys in another one, which others may use.
    Return the exit status.
    """
    import redis

    if not os.environ.get("REDIS_URL"):
        valkey = embedded.valkey(directory / "valkey")
        with _running(programs.valkey(valkey)):
            embedded.wait_for_valkey(valkey)
            with redis.Redis.from_url(valkey.url, socket_timeout=60) as client:
                client.flushall()
        return 0
    _set_up_django()
    from chat.infrastructure.redis_client import sync_redis

    try:
        for key in sync_redis().scan_iter("turnwire:*", count=1000):
            sync_redis().delete(key)
    except redis.exceptions.NoPermissionError:
        sys.stderr.write(NOT_EMPTIED)
        return 1
    return 0


def _set_up_django() -> None:
    import django

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()


@contextmanager
def _running(program: Program) -> Iterator[None]:
    """Run the program during the block, in a session of its own.
    Ctrl-C ends this process, which then stops the program in good order.
    """
    process = subprocess.Popen(  # noqa: S603  our own program
        program.command, env=dict(program.environment), stdout=subprocess.DEVNULL,
        umask=program.umask, start_new_session=True,
    )  # fmt: skip
    try:
        yield
    finally:
        process.send_signal(program.stop_signal)
        process.wait()


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
