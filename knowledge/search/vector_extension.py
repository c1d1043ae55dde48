"""Checks whether Postgres has the extension `vector`, which searches by vectors need."""

from collections.abc import Callable
from typing import Any, Final

from django.core import checks
from django.db import connections

# Version 0.8 introduced iterative scans (hnsw.iterative_scan).
_INSTALLED: Final = """
    SELECT 1 FROM pg_extension WHERE extname = 'vector' AND string_to_array(extversion, '.')::int[] >= '{0,8}'
"""
_known: Final[set[str]] = set()


def has_vector_extension(alias: str = "default") -> bool:
    """Return whether the extension is installed. Only True is cached: an operator may create it at any time."""
    if alias not in _known:
        with connections[alias].cursor() as cursor:
            cursor.execute(_INSTALLED)
            if not cursor.fetchone():
                return False
        _known.add(alias)
    return True


def warn_of_absence(write: Callable[[str], object]) -> None:
    """Write a one-line warning if a model needs the extension and it is missing.
    It is for whoever starts the processes or runs the command `embeddings`.
    """
    for warning in check_vector_extension(databases=["default"]):
        write(f"{warning.msg} {warning.hint}\n")


@checks.register(checks.Tags.database)
def check_vector_extension(databases: Any = None, **_: Any) -> list[checks.CheckMessage]:
    """Check for the extension, as part of `migrate` and of `check --database default`."""
    from knowledge.search.embedders import chosen_embedder

    return [
        checks.Warning(
            "Postgres has no extension `vector` (pgvector): searches find words alone.",
            hint="Install pgvector 0.8 or newer, and run CREATE EXTENSION vector in this database.",
            id="knowledge.W001",
        )
        for alias in databases or ()
        if chosen_embedder() and not has_vector_extension(alias)
    ]
