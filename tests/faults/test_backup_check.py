"""A backup is checked by a restore into a scratch database: rows, files and secrets."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from config import backup_check
from tests import secrets_keys
from tests.faults.test_backup_versions import ROWS, run, url_of
from tests.services import Services

pytestmark = [pytest.mark.fault, pytest.mark.timeout(240)]

CONTENT = """
from knowledge.models import File
from knowledge.files import blobs
import io
path = blobs.store(io.BytesIO(b"Tides"), "files/one")
File.objects.update(content=path)
"""

# Checks a backup; once it is restored, another process checks another one.
BESIDE_ANOTHER = """
import subprocess, sys
from config import backup, database_dump

_, first, second = sys.argv
restore = database_dump.restore

def restore_beside_another(*given):
    status = restore(*given)
    subprocess.run([sys.executable, "turnwire.py", "backup", "--check", second], check=True)
    return status

database_dump.restore = restore_beside_another
sys.exit(backup.main(["backup", "--check", first]))
"""


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    """With rows, a secret and a content."""
    services = Services().start()
    run(services, tmp_path, "manage.py", "shell", "-v", "0", "-c", ROWS + CONTENT)
    yield services
    services.stop()


def scratch_databases(services: Services) -> list[Any]:
    with psycopg.connect(url_of(services, "postgres")) as connection:
        return connection.execute(
            "SELECT datname FROM pg_database WHERE starts_with(datname, %s)", [backup_check.SCRATCH]
        ).fetchall()


def test_a_backup_is_restored_and_compared(services: Services, tmp_path: Path) -> None:
    file, command = str(tmp_path / "all.tar"), ("turnwire.py", "backup", "--check")
    assert "it has the same" in run(services, tmp_path, *command, file)

    (tmp_path / "media" / "files" / "one").unlink()
    found = run(services, tmp_path, *command, file, status=1, SECRETS_KEYS=secrets_keys.SECOND)
    assert "no content of a file, unless it was deleted meanwhile: files/one" in found
    assert "SECRETS_KEYS does not decrypt" in found
    assert "other rows" not in found
    assert scratch_databases(services) == []


def test_a_changed_row_and_one_less_are_noticed(services: Services) -> None:
    with backup_check.snapshot(services.postgres_url) as before:
        with psycopg.connect(services.postgres_url) as connection:
            connection.execute("UPDATE knowledge_chunkvector SET vector[1] = 0.25")
            connection.execute("DELETE FROM chat_provider")
        with backup_check.snapshot(services.postgres_url) as after:
            changed = [name for name in before.tables if before.tables[name] != after.tables[name]]
    assert changed == ["chat_provider", "knowledge_chunkvector"]


def test_two_checks_at_once_have_a_scratch_database_each(services: Services, tmp_path: Path) -> None:
    first, second = str(tmp_path / "first.tar"), str(tmp_path / "second.tar")
    said = run(services, tmp_path, "-c", BESIDE_ANOTHER, first, second)
    assert said.count("it has the same") == 2
    assert scratch_databases(services) == []


def test_what_a_killed_check_left_is_dropped_after_a_day(services: Services, tmp_path: Path) -> None:
    now = int(time.time())
    left, young, other = (
        f"{backup_check.SCRATCH}{name}" for name in (f"{now - 90_000}_ab", f"{now - 80_000}_ab", "1_of_mine")
    )
    with psycopg.connect(url_of(services, "postgres"), autocommit=True) as connection:
        for name in (left, young, other):
            connection.execute(f'CREATE DATABASE "{name}"')
    run(services, tmp_path, "turnwire.py", "backup", "--check", str(tmp_path / "all.tar"))
    assert sorted(scratch_databases(services)) == sorted([(young,), (other,)])
