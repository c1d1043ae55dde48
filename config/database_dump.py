"""Writes and restores dumps of a database, by the programs of the embedded Postgres."""

import os
import subprocess
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from config import environment as env
from config.dump_script import Target, fitting
from config.postgres_programs import programs_for

_WITHOUT_A_TRACE: Final = ("--no-owner", "--no-comments")
_STRICT: Final = ("--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1", "--output=/dev/null")


def write(url: str, dump: Path, snapshot: str = "") -> int:
    """Dump the database at `url` into a file; return the exit status. snapshot: an exported one; empty: as it is now."""
    exported = [f"--snapshot={snapshot}"] if snapshot else []
    command, environment = _client_program("pg_dump", url, "--format=custom", f"--file={dump}", *exported)
    return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603  our own program


def contents(dump: Path) -> tuple[int, str]:
    """Return the exit status of pg_restore, and the list of what is in the dump."""
    command = [_program("pg_restore"), "--list", str(dump)]
    listed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603  our own program
    return listed.returncode, listed.stdout


def restore(url: str, dump: Path) -> int:
    """Restore what the Postgres at `url` knows of the dump, in one transaction, and say what is left out.
    Return the exit status. Unless it is 0, the database stays as it was.
    """
    import psycopg

    with psycopg.connect(url) as connection:
        target = Target.of(connection)
    left_out = Counter[str]()
    script = [_program("pg_restore"), *_WITHOUT_A_TRACE, "--file=-", str(dump)]
    command, environment = _client_program("psql", url, *_STRICT)
    with (
        # psql ends at the first error, and nobody reads the rest.
        suppress(BrokenPipeError),
        subprocess.Popen(script, stdout=subprocess.PIPE) as reading,  # noqa: S603  our own program
        subprocess.Popen(command, stdin=subprocess.PIPE, env=environment) as writing,  # noqa: S603  likewise
    ):
        assert reading.stdout  # noqa: S101  it is a pipe
        assert writing.stdin  # noqa: S101  likewise
        writing.stdin.write(b"BEGIN;\n")
        writing.stdin.writelines(fitting(reading.stdout, target, left_out))
        # Not for a dump that breaks off: without it, psql ends and what it has done is rolled back.
        if reading.wait() == 0:
            writing.stdin.write(b"COMMIT;\n")
    for unknown, count in left_out.items():
        sys.stdout.write(f"left out, because this Postgres does not have it: {unknown} ({count} times)\n")
    return writing.returncode or reading.returncode


def _program(name: str) -> str:
    return str(programs_for(None, env.data_dir()) / name)


def _client_program(name: str, url: str, *arguments: str) -> tuple[list[str], dict[str, str]]:
    """Return the command of a program that connects to `url`, and its environment with the password, which others must not see."""
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    values: dict[str, Any] = dict(conninfo_to_dict(url))
    password = values.pop("password", None)
    command = [_program(name), *arguments, f"--dbname={make_conninfo(**values)}"]
    return command, os.environ | ({"PGPASSWORD": str(password)} if password else {})
