"""Dumps and restores the embedded database of `make run`: `python -m config.backup dump FILE`, `… restore FILE [--replace]`.

A restore needs the instance stopped. It runs Postgres and Valkey alone, restores into a database of another name, and exchanges
it for the old one only if that has succeeded; then it empties Valkey, whose logs may belong to attempts that the restored rows
have not reached.
"""

import argparse
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from config import embedded, preflight, programs
from config import environment as env
from config.postgres_account import account_of
from config.postgres_programs import programs_for
from config.supervisor import Program

RESTORED: Final = "turnwire_restored"
_HAS_TABLES: Final = "SELECT to_regclass('public.django_migrations') IS NOT NULL"


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m config.backup", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("dump", help="while the instance runs").add_argument("file", type=Path)
    restoring = commands.add_parser("restore", help="while it is stopped")
    restoring.add_argument("file", type=Path)
    restoring.add_argument("--replace", action="store_true", help="deletes the database that is there")
    given = parser.parse_args(arguments)
    directory = env.data_dir()
    if os.environ.get("DATABASE_URL"):
        env.fail(
            "DATABASE_URL", "is set: this command is for the embedded database; use pg_dump and pg_restore"
        )
    if given.command == "dump":
        return dump(directory, given.file)
    return restore(directory, given.file.absolute(), is_replacing=given.replace)


def dump(directory: Path, file: Path) -> int:
    url = env.read_stored(directory).get("DATABASE_URL")
    if not url or not (directory / "postgres" / "postmaster.pid").exists():
        env.fail("DATA_DIR", f"{directory} is not that of a running instance with an embedded database")
    status = _postgres_program(directory, "pg_dump", "--format=custom", f"--file={file}", url)
    if status == 0:
        sys.stdout.write(f"dumped the database of {directory} into {file}\n")
    return status


def restore(directory: Path, file: Path, *, is_replacing: bool) -> int:
    if not file.is_file():
        env.fail("restore", f"{file} is not there")
    lock = preflight.acquire_lock(directory)
    # So that what was started is stopped.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    postgres_directory, valkey_directory = directory / "postgres", directory / "valkey"
    embedded.stop_leftovers(postgres_directory, valkey_directory)
    with lock:
        server = embedded.postgres(postgres_directory)
        with _running(programs.postgres(server)):
            embedded.wait_for_postgres(server)
            if status := _restore_into(server, directory, file, is_replacing=is_replacing):
                return status
        valkey = embedded.valkey(valkey_directory)
        with _running(programs.valkey(valkey)):
            embedded.wait_for_valkey(valkey)
            _empty(valkey)
    sys.stdout.write(f"restored {file} into {directory}; start it with make run, which migrates it\n")
    return 0


def _restore_into(server: embedded.Server, directory: Path, file: Path, *, is_replacing: bool) -> int:
    """The exit status; unless it is 0, the database is as it was."""
    import psycopg

    with psycopg.connect(server.url, autocommit=True) as connection:
        row: Any = connection.execute(_HAS_TABLES).fetchone()
    if row[0] and not is_replacing:
        env.fail(
            "restore", f"{directory} holds a database already: choose another DATA_DIR, or add --replace"
        )
    with psycopg.connect(_url_of(server, "postgres"), autocommit=True) as connection:
        connection.execute(f'DROP DATABASE IF EXISTS "{RESTORED}" WITH (FORCE)')
        connection.execute(f'CREATE DATABASE "{RESTORED}"')
        target = f"--dbname={_url_of(server, RESTORED)}"
        if status := _postgres_program(
            directory, "pg_restore", "--no-owner", "--exit-on-error", target, str(file)
        ):
            connection.execute(f'DROP DATABASE "{RESTORED}" WITH (FORCE)')
            return status
        connection.execute(f'DROP DATABASE "{embedded.DATABASE}" WITH (FORCE)')
        connection.execute(f'ALTER DATABASE "{RESTORED}" RENAME TO "{embedded.DATABASE}"')
    return 0


def _url_of(server: embedded.Server, database: str) -> str:
    return server.url.replace(f"/{embedded.DATABASE}?", f"/{database}?")


def _empty(valkey: embedded.Server) -> None:
    import redis

    with redis.Redis.from_url(valkey.url, socket_timeout=60) as client:
        client.flushall()


def _postgres_program(directory: Path, name: str, *arguments: str) -> int:
    binary = programs_for(account_of(directory / "postgres"), directory) / name
    return subprocess.run([binary, *arguments], check=False).returncode  # noqa: S603  our own program


@contextmanager
def _running(program: Program) -> Iterator[None]:
    """In a session of its own: Ctrl-C ends this process, which stops it in good order."""
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
