"""Limits the time that a process may spend on a statement, on the wait for a lock, or idle inside a transaction.

The limits depend on what the process does (decision 0086). They are sent as startup options of each connection.
"""

from collections.abc import MutableMapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple


class Timeouts(NamedTuple):
    """The limits of a role; 0 means no limit.

    statements: as a multiple of STATEMENT_TIMEOUT.  lock_s, idle_s: seconds, idle_s inside a transaction.
    """

    statements: int
    lock_s: int
    idle_s: int


# Role of a process -> its limits.
LIMITS: Final = {
    "web": Timeouts(1, lock_s=5, idle_s=30),
    "llm": Timeouts(1, lock_s=5, idle_s=30),
    # Leaves locked rows to its next sweep; deletes old requests in batches. The next sweeper soon needs the rows that a
    # frozen one has locked.
    "sweeper": Timeouts(2, lock_s=1, idle_s=10),
    # Measures whole branches, and nobody waits for it.
    "compression": Timeouts(4, lock_s=5, idle_s=60),
    # Stores texts of up to 25 MB.
    "ingest": Timeouts(2, lock_s=5, idle_s=30),
    # Everybody who needs a table waits behind a migration that waits for it: the migration fails instead, and is run
    # again.
    "migration": Timeouts(0, lock_s=5, idle_s=0),
}
WEB: Final = "config.asgi:application"
# A word of the command line -> the role of the process; the first match counts. Other processes (management commands)
# have no limits.
_ROLES: Final = {
    "migrate": "migration",
    "sweep_runs": "sweeper",
    "config.compression_app": "compression",
    "config.ingest_app": "ingest",
    WEB: "web",
    "worker": "llm",
}


def role_of(command: Sequence[str]) -> str | None:
    """Return the role of a process of the Procfile, or of `migrate`, by its command line; None for any other."""
    return next((role for word, role in _ROLES.items() if word in command), None)


def application_name(command: Sequence[str], pid: int) -> str:
    """Return the name by which Postgres shows the connections of a process, in pg_stat_activity and its log."""
    return f"turnwire {role_of(command) or Path(command[0]).name} {pid}"


def startup_options(command: Sequence[str], statement_timeout_s: int) -> str:
    """Return the value of libpq's `options`.
    Empty if this process has no limits, or if a timeout of 0 seconds switches all of them off.
    """
    role = role_of(command)
    if role is None or not statement_timeout_s:
        return ""
    limits = LIMITS[role]
    seconds = {
        "statement_timeout": limits.statements * statement_timeout_s,
        "lock_timeout": limits.lock_s,
        "idle_in_transaction_session_timeout": limits.idle_s,
    }
    return " ".join(f"-c {name}={value}s" for name, value in seconds.items() if value)


def limit(options: MutableMapping[str, Any], command: Sequence[str], statement_timeout_s: int) -> None:
    """Add the limits to the options of a database, before those of DATABASE_URL, which take precedence."""
    if limits := startup_options(command, statement_timeout_s):
        options["options"] = f"{limits} {options.get('options', '')}".strip()
