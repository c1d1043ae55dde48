"""The SQL of a dump, without what the Postgres that it is restored into does not have.

pg_restore writes for its own version: it sets `transaction_timeout`, which Postgres 17 introduced. A dump has what only
its own server knew: the column option `pg_attver`, in which some releases of Postgres 15 count changes of a column.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final, NamedTuple

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
    if (found := _SETTING.match(line)) and found[1].decode() not in target.settings:
        return f"SET {found[1].decode()}"
    if found := _COLUMN_OPTIONS.match(line):
        names = {option.partition("=")[0].strip() for option in found[1].decode().split(",")}
        return ", ".join(f"column option {name}" for name in sorted(names - _KNOWN_OPTIONS))
    if not target.has_vectors and _OF_VECTORS.match(line):
        return line.decode().strip()
    return ""
