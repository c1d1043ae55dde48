"""Backup and restore of a Postgres and a Redis of one's own; tests/faults/test_backup.py has the embedded ones."""

import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path

import msgspec
import psycopg
import pytest
from redis import Redis

from chat.metrics.presence import KEY, Process
from tests.instance import ROOT
from tests.services import Services

SERVER = "own_backup"


@pytest.fixture
def database(services: Services) -> Iterator[str]:
    """The URL of a database that has a row."""
    with psycopg.connect(
        services.postgres_url.replace("/turnwire?", "/postgres?"), autocommit=True
    ) as connection:
        for name in (SERVER, f"{SERVER}_empty"):
            connection.execute(f"CREATE DATABASE {name}")
        with psycopg.connect(url_of(services, SERVER)) as made:
            made.execute("CREATE TABLE django_migrations (name text)")
            made.execute("INSERT INTO django_migrations VALUES ('of the tides')")
        yield url_of(services, SERVER)
        for name in (SERVER, f"{SERVER}_empty"):
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def redis(services: Services) -> Iterator[Redis]:
    with Redis.from_url(redis_url(services), decode_responses=True) as client:
        yield client
        client.flushdb()


def url_of(services: Services, name: str) -> str:
    return services.postgres_url.replace("/turnwire?", f"/{name}?")


def redis_url(services: Services) -> str:
    return services.redis_url.removesuffix("/0") + "/3"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data" / "media" / "files").mkdir(parents=True)
    (tmp_path / "data" / "media" / "files" / "one").write_bytes(b"Tides")
    return tmp_path / "data"


def turnwire(services: Services, words: str, data: Path, name: str) -> subprocess.CompletedProcess[str]:
    """Called in the folder above the data, where the file is."""
    values = {
        "DATABASE_URL": url_of(services, name),
        "REDIS_URL": redis_url(services),
        "DATA_DIR": data.name,
        "DEBUG": "1",
    }
    return subprocess.run(
        [sys.executable, str(ROOT / "turnwire.py"), *words.split()], cwd=data.parent, env=os.environ | values,
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.usefixtures("database")
def test_what_was_backed_up_is_restored(services: Services, redis: Redis, data: Path, tmp_path: Path) -> None:
    made = turnwire(services, "backup all.tar", data, SERVER)
    assert (made.returncode, "1 uploaded files" in made.stdout) == (0, True), made
    assert (tmp_path / "all.tar").stat().st_mode & 0o077 == 0
    redis.mset({"turnwire:stream:1": "old", "theirs": "kept"})

    done = turnwire(services, "restore all.tar", tmp_path / "new", f"{SERVER}_empty")
    assert done.returncode == 0, done
    with psycopg.connect(url_of(services, f"{SERVER}_empty")) as connection:
        assert connection.execute("SELECT name FROM django_migrations").fetchall() == [("of the tides",)]
    assert (tmp_path / "new" / "media" / "files" / "one").read_bytes() == b"Tides"
    assert redis.keys("*") == ["theirs"]


@pytest.mark.usefixtures("database")
def test_a_database_with_tables_is_left_alone(services: Services, redis: Redis, data: Path) -> None:
    redis.set("turnwire:stream:1", "new")
    assert turnwire(services, "backup all.tar", data, SERVER).returncode == 0
    done = turnwire(services, "restore all.tar --replace", data, SERVER)
    assert (done.returncode, "that database has tables" in done.stderr) == (78, True), done
    assert redis.get("turnwire:stream:1") == "new"


@pytest.mark.usefixtures("database")
def test_a_process_that_runs_prevents_it(services: Services, redis: Redis, data: Path) -> None:
    assert turnwire(services, "backup all.tar", data, SERVER).returncode == 0
    redis.sadd(f"{KEY}:present", f"{KEY}:present:1")
    redis.set(f"{KEY}:present:1", msgspec.json.encode(Process("web", "there", 7, "1")), ex=15)
    done = turnwire(services, "restore all.tar", data, f"{SERVER}_empty")
    assert (done.returncode, "web runs on there (process 7)" in done.stderr) == (78, True), done


@pytest.mark.usefixtures("redis")
def test_a_dump_of_another_database_is_refused_before_anything_is_changed(
    services: Services, database: str, data: Path, tmp_path: Path
) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("ALTER TABLE django_migrations RENAME TO theirs")
    assert turnwire(services, "backup all.tar", data, SERVER).returncode == 0
    done = turnwire(services, "restore all.tar", tmp_path / "new", f"{SERVER}_empty")
    assert (done.returncode, "not that of a database of Turnwire" in done.stderr) == (78, True), done
    with psycopg.connect(url_of(services, f"{SERVER}_empty")) as connection:
        assert connection.execute("SELECT to_regclass('theirs')").fetchone() == (None,)
    assert not (tmp_path / "new" / "media" / "files").exists()


@pytest.mark.usefixtures("database")
def test_a_backup_that_fails_leaves_no_file(services: Services, data: Path, tmp_path: Path) -> None:
    assert turnwire(services, "backup all.tar", data, "not_there").returncode == 1
    assert list(tmp_path.glob("all.tar*")) == []


@pytest.mark.usefixtures("redis")
def test_a_dump_that_breaks_off_between_rows_leaves_the_database_empty(
    services: Services, database: str, data: Path, tmp_path: Path
) -> None:
    with psycopg.connect(database) as connection:
        connection.execute(
            "INSERT INTO django_migrations SELECT gen_random_uuid() FROM generate_series(1, 99999)"
        )
    assert turnwire(services, "backup all.tar --without-files", data, SERVER).returncode == 0
    with tarfile.open(tmp_path / "all.tar") as archive:
        dump = archive.extractfile("database.dump")
        assert dump
        (tmp_path / "cut").write_bytes(dump.read()[:-1_000_000])
    done = turnwire(services, "restore cut", tmp_path / "new", f"{SERVER}_empty")
    assert (done.returncode, "could not" in done.stderr) == (1, True), done
    with psycopg.connect(url_of(services, f"{SERVER}_empty")) as connection:
        assert connection.execute("SELECT to_regclass('django_migrations')").fetchone() == (None,)
