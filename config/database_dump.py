"""Writes and restores dumps of a database, by the programs of the embedded Postgres.

pg_restore writes SQL for its own version: it sets `transaction_timeout`, which Postgres 17 introduced. A dump has what only its
own server knew: the column option `pg_attver`, in which some releases of Postgres 15 count changes of a column. The restored
script has neither where the target does not know it.
"""

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from config import environment as env
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


_SETTING: Final = re.compile(rb"SET (\w+) = ")
_COLUMN_OPTIONS: Final = re.compile(rb"ALTER TABLE ONLY .* ALTER COLUMN .* SET \(([^()]*)\);$")
_KNOWN_OPTIONS: Final = {"n_distinct", "n_distinct_inherited"}
_OF_VECTORS: Final = re.compile(rb"CREATE EXTENSION IF NOT EXISTS vector |CREATE INDEX .* USING hnsw ")
_COPY: Final = re.compile(rb"COPY .* FROM stdin;$")
_END_OF_DATA: Final = b"\\.\n"
# The version is that of knowledge/search/vector_extension.py.
_HAS_VECTORS: Final = """
    SELECT EXISTS (
        SELECT FROM pg_available_extension_versions
        WHERE name = 'vector' AND string_to_array(version, '.')::int[] >= '{0,8}'
    )
"""


class Target(NamedTuple):
    """The Postgres that a dump is restored into. settings: the names of its settings."""

    settings: frozenset[str]
    has_vectors: bool

    @classmethod
    def of(cls, connection: Any) -> "Target":
        names = connection.execute("SELECT name FROM pg_settings").fetchall()
        return cls(frozenset(name for (name,) in names), connection.execute(_HAS_VECTORS).fetchone()[0])


def fitting(lines: Iterable[bytes], target: Target, left_out: Counter[str]) -> Iterator[bytes]:
    """Yield the lines of pg_restore's script that `target` knows, and count the others in `left_out`.
    Rows are yielded as they are, whatever they look like.
    """
    is_row = False
    for line in lines:
        if is_row:
            is_row = line != _END_OF_DATA
        elif unknown := _unknown(line, target):
            left_out[unknown] += 1
            continue
        else:
            is_row = bool(_COPY.match(line))
        yield line


def _unknown(line: bytes, target: Target) -> str:
    """Return what the target does not know; empty if it knows the line."""
    if (match := _SETTING.match(line)) and match[1].decode() not in target.settings:
        return f"SET {match[1].decode()}"
    if match := _COLUMN_OPTIONS.match(line):
        names = {option.partition("=")[0].strip() for option in match[1].decode().split(",")}
        return ", ".join(f"column option {name}" for name in sorted(names - _KNOWN_OPTIONS))
    if not target.has_vectors and _OF_VECTORS.match(line):
        return line.decode().strip()
    return ""
