"""A backup is restored into another version of Postgres (the embedded one, Debian's postgresql-15), and by a later Turnwire."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from config import embedded
from tests import last_release, secrets_keys
from tests.faults.test_oldest_postgres import PROGRAMS, OldestPostgres
from tests.instance import ROOT
from tests.services import Services

pytestmark = [pytest.mark.fault, pytest.mark.full, pytest.mark.timeout(300)]

EMPTY = "emptied"
# Rows with every character that a script of a dump writes in a special way, vectors, and a key.
ROWS = r"""
from django.contrib.auth.models import User
from django.core.management import call_command
from chat.infrastructure.encryption import encrypt
from chat.models import Provider
from knowledge.models import EmbeddingModel, KnowledgeBase, ChunkVector
from knowledge.search.vector_extension import has_vector_extension
from tests.indexed import add_indexed

call_command("migrate", verbosity=0)
alice = User.objects.create_user("alice")
base = KnowledgeBase.objects.create(name="COPY a FROM stdin;", owner=alice)
add_indexed(base, "Tides", "SET transaction_timeout = 0;\n\\.\n\tLow water, 干潮 \\N\r\n")
Provider.objects.create(name="one", base_url="https://one.example", encrypted_api_key=encrypt("the key"))
model = EmbeddingModel.objects.create(name="sea")
if has_vector_extension():
    model.set_dimensions(3)
ChunkVector.objects.add_missing(model)
ChunkVector.objects.update(vector=[0.5, 0.1, -3e-8])
"""
# A turn with its answer, of the owner of these rows.
TURN = """
from django.test.utils import setup_test_environment
from tests import factories

setup_test_environment()
factories.create_model("quick", is_default=True)
client = factories.api_client(alice)
session = client.post("/api/sessions/", {}, format="json").json()["id"]
factories.complete_turn(client, session, "Low water, 干潮?")
"""
MESSAGES = "SELECT id, parent_id, role, text FROM chat_chatmessage ORDER BY id"
KEY = "from chat.models import Provider; print(Provider.objects.get().api_key)"


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], Services]]:
    """Starts the services with the Postgres of a version."""
    started: list[Services] = []

    def start(version: str) -> Services:
        if version == "15" and not PROGRAMS.exists():
            pytest.skip("postgresql-15 is not installed: backups of and for it were NOT tested")
        with monkeypatch.context() as patched:
            if version == "15":
                patched.setattr(embedded, "programs_for", lambda *_: PROGRAMS)
            started.append((OldestPostgres() if version == "15" else Services()).start())
        return started[-1]

    yield start
    for services in started:
        services.stop()


def run(
    services: Services,
    data: Path,
    *command: str,
    database: str = embedded.DATABASE,
    status: int = 0,
    **values: str,
) -> str:
    """What the command says, which has to end with this status."""
    own = {
        "DATABASE_URL": url_of(services, database),
        "REDIS_URL": services.redis_url,
        "DATA_DIR": str(data),
        "DEBUG": "1",
        "SECRETS_KEYS": secrets_keys.FIRST,
        "PYTHONPATH": str(ROOT),
    }
    environment = os.environ | own | values
    # Libraries import from the folder where a process runs before those of PYTHONPATH.
    done = subprocess.run(
        [sys.executable, *command], cwd=environment["PYTHONPATH"], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == status, done
    return done.stdout


def url_of(services: Services, database: str) -> str:
    return services.postgres_url.replace(f"/{embedded.DATABASE}?", f"/{database}?")


def rows_of(url: str) -> dict[str, list[str]]:
    """The rows of each table, as text."""
    with psycopg.connect(url) as connection:
        tables = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1")
        return {
            table: sorted(row for (row,) in connection.execute(f'SELECT t::text FROM "{table}" t'))
            for (table,) in tables.fetchall()
        }


def query(url: str, statement: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(url) as connection:
        return connection.execute(statement).fetchall()


@pytest.mark.parametrize(("source", "target"), [("15", "15"), ("15", "18"), ("18", "15")])
def test_rows_vectors_and_keys_are_the_same_in_another_version(
    start: Callable[[str], Services], tmp_path: Path, source: str, target: str
) -> None:
    file, first = str(tmp_path / "all.tar"), start(source)
    second = first if source == target else start(target)
    with psycopg.connect(url_of(second, "postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {EMPTY}")
    run(first, tmp_path, "manage.py", "shell", "-v", "0", "-c", ROWS)
    run(first, tmp_path, "turnwire.py", "backup", file)
    said = run(second, tmp_path / "new", "turnwire.py", "restore", file, database=EMPTY)
    assert ("SET transaction_timeout" in said) == (target == "15")
    assert ("CREATE INDEX chunk_vector_of_" in said) == (source == "18")

    rows = rows_of(url_of(first, embedded.DATABASE))
    assert rows["knowledge_chunkvector"]
    assert rows_of(url_of(second, EMPTY)) == rows
    assert run(second, tmp_path, "manage.py", "shell", "-v", "0", "-c", KEY, database=EMPTY) == "the key\n"
    run(second, tmp_path, "manage.py", "migrate", "--check", database=EMPTY)


def test_a_backup_by_the_last_release_is_restored_migrated_and_checked(
    start: Callable[[str], Services], tmp_path: Path
) -> None:
    before, file = last_release.unpack(tmp_path / "before"), str(tmp_path / "all.tar")
    of_release = {"PYTHONPATH": str(before), "database": "released"}
    services = start("18")
    with psycopg.connect(url_of(services, "postgres"), autocommit=True) as connection:
        for name in ("released", EMPTY):
            connection.execute(f"CREATE DATABASE {name}")
    manage, turnwire = str(before / "manage.py"), str(before / "turnwire.py")
    run(services, tmp_path, manage, "shell", "-v", "0", "-c", ROWS + TURN, **of_release)
    run(services, tmp_path, turnwire, "backup", file, **of_release)

    run(services, tmp_path / "new", "turnwire.py", "restore", file, database=EMPTY)
    assert rows_of(url_of(services, EMPTY)) == rows_of(url_of(services, "released"))
    run(services, tmp_path, "turnwire.py", "migrate", database=EMPTY)
    run(services, tmp_path, "manage.py", "migrate", "--check", database=EMPTY)
    messages = [query(url_of(services, name), MESSAGES) for name in ("released", EMPTY)]
    assert [text for *_, text in messages[0]].count("About Low water, 干潮?") == 1
    assert messages[0] == messages[1]
    assert run(services, tmp_path, "manage.py", "shell", "-v", "0", "-c", KEY, database=EMPTY) == "the key\n"
    check = ("turnwire.py", "backup", "--check", str(tmp_path / "again.tar"))
    assert "it has the same" in run(services, tmp_path, *check, database=EMPTY)
