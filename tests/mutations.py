"""Breaks core promises, one at a time, and runs tests that every change runs: `python -m tests.mutations`.

Each must make some of them fail. The code is changed in a copy; the table of what caught what is printed.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final, NamedTuple

from tests.instance import copy_of_the_code, environment_of_pytest


class Mutation(NamedTuple):
    """promise: what is broken by writing `new` for `old`, which `file` has once. tests: what fails then, among others."""

    promise: str
    file: str
    old: str
    new: str
    tests: str


MUTATIONS: Final = [
    Mutation(
        "fence",
        "llm_worker/attempt/fenced_writes.py",
        "ON run.id = given.run AND run.attempt = given.attempt",
        "ON run.id = given.run AND run.attempt >= given.attempt",
        "tests/llm_worker/attempt/test_checkpointer.py",
    ),
    Mutation(
        "lease takeover",
        "chat/models/lease.py",
        "is_dead = Q(lease_until__lt=Now()) | Q(owner__isnull=True)",
        "is_dead = Q(owner__isnull=True)",
        "tests/chat/sweeper/test_runs.py",
    ),
    Mutation(
        "log without gaps",
        "chat/log/cursor.py",
        "if first <= cursor.seq else Decision(Action.GAP)",
        "if first <= cursor.seq else Decision(Action.FORWARD)",
        "tests/chat/log/test_cursor.py",
    ),
    Mutation(
        "stop is final",
        "chat/protocol/states.py",
        "Status.STOPPING: frozenset({Status.STOPPED})",
        "Status.STOPPING: frozenset({Status.STOPPED, Status.COMPLETED})",
        "tests/llm_worker/turns/test_stops.py",
    ),
    Mutation(
        "one answer of each model",
        "chat/models/sql/claims.py",
        "WHERE id = %(run)s AND status = {_QUEUED} AND queued_at",
        "WHERE id = %(run)s AND queued_at",
        "tests/llm_worker/turns/test_runs.py",
    ),
    Mutation(
        "isolation of users",
        "chat/models/listed_sessions.py",
        "return self.filter(owner=user)",
        "return self.all()",
        "tests/matrix/test_rest.py",
    ),
    Mutation(
        "isolation of users, by the socket",
        "chat/models/sql/sessions.py",
        "WHERE id = %(session)s AND owner_id = %(user)s AND deleted_at IS NULL",
        "WHERE id = %(session)s AND %(user)s > 0 AND deleted_at IS NULL",
        "tests/matrix/test_socket.py",
    ),
    Mutation(
        "restricted mode",
        "llm_worker/loading/sources.py",
        "        return self._is_restricted\n\n    async def search",
        "        return False\n\n    async def search",
        "tests/llm_worker/turns/knowledge/restricted/test_canaries.py",
    ),
    Mutation(
        "compression never delays",
        "chat/models/sql/runs.py",
        "WHERE turn.id = run.turn_id AND (turn.after_id IS NULL OR above.ended_at IS NOT NULL)\n)",
        "WHERE turn.id = run.turn_id AND (turn.after_id IS NULL OR above.ended_at IS NOT NULL)\n"
        ") AND NOT EXISTS (SELECT FROM chat_compression WHERE status IN ('queued', 'running'))",
        "tests/e2e/test_compression.py",
    ),
    Mutation(
        "constraints of the tree",
        "chat/migrations/0001_version_0_2_0.py",
        "condition=models.Q(('role', 'root')), fields=('session',), name='one_root_per_session'",
        "condition=models.Q(('role', 'none')), fields=('session',), name='one_root_per_session'",
        "tests/chat/models/test_constraints.py",
    ),
    Mutation(
        "login limits",
        "features/accounts/login_attempt.py",
        "PER_NAME_AND_ADDRESS: Final = (8, 60)",
        "PER_NAME_AND_ADDRESS: Final = (80, 60)",
        "tests/features/accounts/test_login_limits.py",
    ),
]


def failures(mutation: Mutation) -> list[str]:
    """The names of the tests that fail when the code is changed so. Empty: nothing notices."""
    with tempfile.TemporaryDirectory() as folder:
        code = copy_of_the_code(Path(folder) / "code")
        changed = code / mutation.file
        text = changed.read_text(encoding="utf-8")
        assert text.count(mutation.old) == 1, f"{mutation.file} has changed: update {mutation.promise!r}"
        changed.write_text(text.replace(mutation.old, mutation.new), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-q", "-m", "not fault and not full", mutation.tests]
        done = subprocess.run(
            command, cwd=code, env=environment_of_pytest(), capture_output=True, text=True, check=False
        )
    assert done.returncode in (0, 1), done.stdout + done.stderr
    return re.findall(r"^(?:FAILED|ERROR) \S+?::(\w+)", done.stdout, re.MULTILINE)


def main() -> None:
    unnoticed = 0
    for mutation in MUTATIONS:
        names = sorted(set(failures(mutation)))
        unnoticed += not names
        print(f"| {mutation.promise} | `{mutation.file}` | {', '.join(names) or 'NOTHING'} |", flush=True)
    sys.exit(bool(unnoticed))


if __name__ == "__main__":
    main()
