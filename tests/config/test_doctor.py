"""`turnwire doctor` asks real services."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection
from django.test import override_settings
from redis import Redis

from chat.infrastructure.redis_client import sync_redis
from chat.metrics import presence
from chat.models import ModelConfig
from config import doctor
from tests.instance import ROOT, free_port

pytestmark = pytest.mark.django_db


@pytest.fixture
def evicting() -> Iterator[None]:
    with Redis.from_url(settings.REDIS_URL) as client:
        client.config_set("maxmemory-policy", "allkeys-lru")
        yield
        client.config_set("maxmemory-policy", "noeviction")


@pytest.fixture
def model() -> None:
    ModelConfig.objects.create(name="alpha", context_window=8000, base_url="http://127.0.0.1:9/v1")


@pytest.mark.usefixtures("model")
def test_nothing_is_wrong_with_a_good_instance(capsys: pytest.CaptureFixture[str]) -> None:
    # For some seconds, the processes of tests before this one count as part of the instance.
    sync_redis().flushdb()
    status = doctor.main()
    shown = capsys.readouterr().out
    assert "error" not in shown
    assert status == 0
    assert "noeviction" in shown
    assert "migrations    all applied" in shown
    assert "alpha" in shown


@pytest.mark.usefixtures("model")
def test_the_disk_of_the_data_is_measured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    doctor.main()
    shown = capsys.readouterr().out
    assert f"disk          {settings.DATA_DIR} has" in shown
    # What the embedded one calls its folder is the folder of whoever asks.
    assert "/proc/" not in shown


@pytest.mark.usefixtures("model", "evicting")
def test_a_server_that_evicts_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert doctor.main() == 1
    assert "error   redis         maxmemory-policy is allkeys-lru" in capsys.readouterr().out


@pytest.mark.usefixtures("model")
def test_a_service_that_is_away_hides_no_other_finding(capsys: pytest.CaptureFixture[str]) -> None:
    with override_settings(REDIS_URL=f"redis://127.0.0.1:{free_port()}/0"):
        assert doctor.main() == 1
    shown = capsys.readouterr().out
    assert "error   redis         cannot be asked" in shown
    assert "migrations    all applied" in shown


def test_a_migration_that_is_missing_is_named() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'sessions'")
    assert [finding.level for finding in doctor.migrations(settings)] == ["error"]


def test_a_postgres_that_refuses_writes_is_an_error() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SET transaction_read_only = on")
    assert "error" in [finding.level for finding in doctor.postgres(settings)]


def test_before_the_first_start_it_needs_no_variable_and_says_so_in_a_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "config.doctor"], cwd=ROOT, env={"PATH": "", "DATA_DIR": str(tmp_path / "new")},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert "warning instance      is not running" in done.stdout
    assert "error" not in done.stdout


@pytest.mark.usefixtures("model")
def test_a_queue_that_no_worker_reads_is_an_error() -> None:
    web = presence.Announcement("web", presence.Work)
    with sync_redis().pipeline() as pipe:
        web.write(pipe)
        pipe.execute()
    try:
        texts = [finding.text for finding in doctor.processes(settings)]
    finally:
        web.withdraw()
    assert "no worker reads the queue llm: what is in it waits" in texts
    assert any(text.startswith("no sweeper process lives") for text in texts)


def test_a_variable_that_is_wrong_ends_with_its_line() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "config.doctor"], cwd=ROOT, env=os.environ | {"TRUSTED_PROXIES": "proxy"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, "TRUSTED_PROXIES: 'proxy' is not" in done.stderr) == (1, True)
    assert done.stdout.startswith("error   configuration")
